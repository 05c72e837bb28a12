/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeping and hang-ups; see client_wait.h. */
#include "tools/informer-sim/client_wait.h"

#include <poll.h>
#include <time.h>

#define LOOK_MS 20

bool
sim_hung_up(int socket)
{
	struct pollfd fd = {.fd = socket, .events = POLLRDHUP};

	return poll(&fd, 1, 0) > 0 && (fd.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static void
freeze(struct sim_server *server, int change)
{
	pthread_mutex_lock(&server->lock);
	server->frozen += (unsigned)change;
	pthread_mutex_unlock(&server->lock);
}

bool
sim_fault_sleep(struct sim_server *server, int socket, unsigned ms)
{
	bool stays = true;

	freeze(server, ms == 0 ? 1 : 0);
	for (unsigned slept = 0; stays && (ms == 0 || slept < ms);) {
		unsigned n = ms && ms - slept < LOOK_MS ? ms - slept : LOOK_MS;
		struct timespec at = {.tv_nsec = (long)n * 1000000};

		stays = !sim_store_stopped(server->store) && !sim_hung_up(socket);
		if (stays)
			nanosleep(&at, NULL);
		slept += n;
	}
	freeze(server, ms == 0 ? -1 : 0);
	return stays;
}
