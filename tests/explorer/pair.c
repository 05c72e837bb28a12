/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the broker on a loop that is turned by hand; the reader attaches meanwhile. */
#include "tests/explorer/pair.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>

#include "reader-lib/attach/handle.h"
#include "tests/support/test_clock.h"
#include "writer/base/log.h"

#define TURNS 64

struct pair pair;

void
pair_drain(void)
{
	for (unsigned i = 0; i < TURNS; i++) {
		uv_run(&pair.writer->loop, UV_RUN_NOWAIT);
		informer_dispatch(pair.inf);
	}
}

/* Start a broker for the fixture's store. */
static void
serve(void)
{
	char *error = NULL;

	pair.store = pair.writer->store->store;
	pair.pods = pair.writer->store->pods;
	if (broker_new(&pair.writer->loop, &pair.writer->options, &pair.writer->broker, &error) < 0)
		abort();
	store_on_commit(pair.store, broker_wake, pair.writer->broker);
}

static void
serve_no_more(void)
{
	store_on_commit(pair.store, NULL, NULL);
	broker_free(pair.writer->broker);
	pair.writer->broker = NULL;
	while (uv_run(&pair.writer->loop, UV_RUN_DEFAULT) != 0)
		;
}

void
pair_begin(void)
{
	struct informer_options options = {.size = sizeof(options), .reader_name = "explored"};
	struct informer_status status = {.size = sizeof(status)};

	/* silence messages that each run would repeat */
	log_open_plain(LOG_LEVEL_ERROR, "");
	pair.writer = broker_fixture_new();
	uv_loop_init(&pair.writer->loop);
	serve();
	broker_fixture_pod(pair.writer, "first");
	options.socket_path = pair.writer->socket;
	if (informer_attach(&options, &pair.inf) < 0)
		abort();
	for (unsigned i = 0; i < TURNS && !status.attached; i++) {
		pair_drain();
		informer_status(pair.inf, &status);
	}
	if (!status.attached) {
		fprintf(stderr, "pair: not attached: %s\n", status.reason);
		abort();
	}
}

void
pair_next_writer(void)
{
	serve_no_more();
	broker_fixture_replace(pair.writer, false);
	serve();
	/* the reader sees the hang-up and greets the next broker, which answers */
	informer_dispatch(pair.inf);
	for (unsigned i = 0; i < TURNS; i++)
		uv_run(&pair.writer->loop, UV_RUN_NOWAIT);
	/* disarm the timer for a missing answer: whether it is due would differ by run */
	timerfd_settime(pair.inf->timer, 0, &(struct itimerspec){0}, NULL);
}

void
pair_end(void)
{
	informer_detach(pair.inf);
	serve_no_more();
	uv_loop_close(&pair.writer->loop);
	broker_fixture_free(pair.writer);
}

int
pair_set_up(void **state)
{
	(void)state;
	pair_begin();
	return 0;
}

int
pair_tear_down(void **state)
{
	(void)state;
	pair_end();
	return 0;
}

/* Time stands still here: the fixture must not move it. */
void
test_clock_move(uint64_t ms)
{
	(void)ms;
	abort();
}
