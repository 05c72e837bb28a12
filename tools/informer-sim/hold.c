/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a list of held requests; each waits on its connection's thread. */
#include "tools/informer-sim/hold.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "tools/informer-sim/client_wait.h"
#include "tools/informer-sim/request.h"

#define LOOK_NS 10000000

struct sim_held {
	struct sim_held *next;
	struct api_buf name;
	bool answered;
	struct sim_fault answer;
};

struct sim_holds {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	struct sim_held *first, **end; /* requests without an answer, oldest first */
	unsigned count;
};

struct sim_holds *
sim_holds_new(void)
{
	struct sim_holds *holds = api_alloc(sizeof(*holds));

	*holds = (struct sim_holds){.end = &holds->first};
	pthread_mutex_init(&holds->lock, NULL);
	pthread_cond_init(&holds->answered, NULL);
	return holds;
}

void
sim_holds_free(struct sim_holds *holds)
{
	pthread_cond_destroy(&holds->answered);
	pthread_mutex_destroy(&holds->lock);
	free(holds);
}

/* Lock held. */
static void
take_out(struct sim_holds *holds, struct sim_held *held)
{
	struct sim_held **at = &holds->first;

	while (*at != held)
		at = &(*at)->next;
	*at = held->next;
	if (holds->end == &held->next)
		holds->end = at;
	holds->count--;
}

bool
sim_hold(struct sim_request *request, struct sim_fault *ret_fault)
{
	struct sim_holds *holds = request->server->holds;
	struct sim_held held = {0};
	struct timespec at;

	sim_request_print(request, &held.name);
	pthread_mutex_lock(&holds->lock);
	*holds->end = &held;
	holds->end = &held.next;
	holds->count++;
	while (!held.answered && !sim_store_stopped(request->server->store) &&
	       !sim_hung_up(sim_request_socket(&request->api))) {
		clock_gettime(CLOCK_REALTIME, &at);
		at.tv_nsec += LOOK_NS;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&holds->answered, &holds->lock, &at);
	}
	if (!held.answered)
		take_out(holds, &held);
	pthread_mutex_unlock(&holds->lock);
	api_buf_done(&held.name);
	*ret_fault = held.answer;
	return held.answered;
}

bool
sim_holds_answer(struct sim_holds *holds, const struct sim_fault *fault)
{
	struct sim_held *held;

	pthread_mutex_lock(&holds->lock);
	held = holds->first;
	if (held) {
		take_out(holds, held);
		held->answer = *fault;
		held->answered = true;
		pthread_cond_broadcast(&holds->answered);
	}
	pthread_mutex_unlock(&holds->lock);
	return held != NULL;
}

unsigned
sim_holds_count(struct sim_holds *holds)
{
	unsigned count;

	pthread_mutex_lock(&holds->lock);
	count = holds->count;
	pthread_mutex_unlock(&holds->lock);
	return count;
}

void
sim_holds_print(struct sim_holds *holds, struct api_buf *buf)
{
	pthread_mutex_lock(&holds->lock);
	for (const struct sim_held *held = holds->first; held; held = held->next)
		api_buf_printf(buf, "%s\n", held->name.data);
	pthread_mutex_unlock(&holds->lock);
}
