/* SPDX-License-Identifier: Apache-2.0 */
/* Draws UIDs and suffixes under the server's lock; see sim_server.h. */
#include "tools/informer-sim/sim_server.h"

void
sim_server_uid(struct sim_server *server, char out[SIM_UID_SIZE])
{
	pthread_mutex_lock(&server->lock);
	sim_rng_uid(&server->rng, out);
	pthread_mutex_unlock(&server->lock);
}

void
sim_server_suffix(struct sim_server *server, char out[6])
{
	pthread_mutex_lock(&server->lock);
	sim_rng_suffix(&server->rng, out, 5);
	pthread_mutex_unlock(&server->lock);
}
