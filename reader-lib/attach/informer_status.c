/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the state of the connection and of the current arena. */
#include <stdio.h>
#include <string.h>

#include "reader-lib/attach/mapping.h"
#include "shm-layout/time_ns.h"

#define STALE_NS 15000000000ull

int
informer_status(struct informer *inf, struct informer_status *status)
{
	struct informer_status s = {0};
	struct mapping *m;

	if (!inf || !status || status->size < sizeof(status->size))
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	pthread_mutex_lock(&inf->lock);
	m = atomic_load_explicit(&inf->current, memory_order_relaxed);
	s.connected = inf->connection == CONNECTION_UP;
	s.failure = inf->failure;
	s.attaches = inf->attaches;
	s.socket = inf->places[inf->place].address.sun_path;
	memcpy(s.reason, inf->reason, sizeof(s.reason));
	if (m) {
		struct header *h = (struct header *)(uintptr_t)m->header;
		uint64_t now = time_ns(CLOCK_BOOTTIME), beat;
		/*
		 * Meets arena_set_state() (writer/arena/arena.c), which stores the heartbeat first: no state
		 * is shown with an older heartbeat.
		 */
		uint32_t state = atomic_load_explicit(&h->state, memory_order_acquire);

		beat = atomic_load_explicit(&h->heartbeat_boot_ns, memory_order_relaxed);
		s.attached = true;
		s.generation = m->generation;
		s.server_release = atomic_load_explicit(&h->server_release, memory_order_relaxed);
		s.age_ns = now > beat ? now - beat : 0;
		s.pins = mapping_pins(m);
		s.stale = !s.connected || state != HEADER_LIVE || s.age_ns > STALE_NS ||
			  mapping_superseded(m);
		if (s.stale && !s.reason[0])
			snprintf(s.reason, sizeof(s.reason), "%s",
				 state == HEADER_STALE ? "informerd ended in good order" :
				 mapping_superseded(m) ? "a new generation is on its way" :
				 "informerd shows no sign of life");
	} else {
		s.stale = true;
		if (!s.reason[0])
			snprintf(s.reason, sizeof(s.reason), "informerd has not answered yet");
	}
	pthread_mutex_unlock(&inf->lock);
	s.size = status->size;
	memcpy(status, &s, status->size < sizeof(s) ? status->size : sizeof(s));
	return 0;
}
