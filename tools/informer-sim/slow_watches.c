/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that checks each open watch twice a second and cuts those behind the ring. Lock order: the
 * server's, then the store's.
 */
#include "tools/informer-sim/slow_watches.h"

#include <sys/socket.h>
#include <time.h>

static void *
cut_off_the_slow(void *cls)
{
	struct sim_server *server = cls;
	struct timespec at;

	pthread_mutex_lock(&server->lock);
	while (!server->stopping) {
		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_nsec += 500000000;
		if (at.tv_nsec >= 1000000000) {
			at.tv_nsec -= 1000000000;
			at.tv_sec++;
		}
		pthread_cond_timedwait(&server->stop, &server->lock, &at);
		for (struct sim_watch *watch = server->watches; watch; watch = watch->next) {
			uint64_t position = atomic_load_explicit(&watch->position, memory_order_relaxed);

			if (watch->cut || !sim_store_lost(server->store, watch->resource, position))
				continue;
			watch->cut = true;
			server->watches_cut++;
			shutdown(watch->socket, SHUT_RDWR);
		}
	}
	pthread_mutex_unlock(&server->lock);
	return NULL;
}

void
sim_slow_watches_start(struct sim_server *server)
{
	server->stopping = false;
	pthread_cond_init(&server->stop, NULL);
	pthread_create(&server->slow_watches, NULL, cut_off_the_slow, server);
}

void
sim_slow_watches_stop(struct sim_server *server)
{
	pthread_mutex_lock(&server->lock);
	server->stopping = true;
	pthread_cond_signal(&server->stop);
	pthread_mutex_unlock(&server->lock);
	pthread_join(server->slow_watches, NULL);
	pthread_cond_destroy(&server->stop);
}

void
sim_slow_watches_add(struct sim_server *server, struct sim_watch *watch)
{
	pthread_mutex_lock(&server->lock);
	watch->next = server->watches;
	watch->link = &server->watches;
	if (watch->next)
		watch->next->link = &watch->next;
	server->watches = watch;
	server->watch_count++;
	pthread_mutex_unlock(&server->lock);
}

void
sim_slow_watches_remove(struct sim_server *server, struct sim_watch *watch)
{
	pthread_mutex_lock(&server->lock);
	*watch->link = watch->next;
	if (watch->next)
		watch->next->link = watch->link;
	server->watch_count--;
	pthread_mutex_unlock(&server->lock);
}
