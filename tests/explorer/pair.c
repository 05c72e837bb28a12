/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the broker on a loop that is turned by hand, and has the reader attach meanwhile.
 */
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
pair_drain(struct pair *p)
{
	for (unsigned i = 0; i < TURNS; i++) {
		uv_run(&p->writer->loop, UV_RUN_NOWAIT);
		informer_dispatch(p->inf);
	}
}

/* The fixture's store is served. */
static void
serve(struct pair *p)
{
	char *error = NULL;

	p->store = p->writer->store->store;
	p->pods = p->writer->store->pods;
	if (broker_new(&p->writer->loop, &p->writer->options, &p->writer->broker, &error) < 0)
		abort();
	store_on_commit(p->store, broker_wake, p->writer->broker);
}

static void
serve_no_more(struct pair *p)
{
	store_on_commit(p->store, NULL, NULL);
	broker_free(p->writer->broker);
	p->writer->broker = NULL;
	while (uv_run(&p->writer->loop, UV_RUN_DEFAULT) != 0)
		;
}

void
pair_begin(struct pair *p)
{
	struct informer_options options = {.size = sizeof(options), .reader_name = "explored"};
	struct informer_status status = {.size = sizeof(status)};

	/* each run would say it again */
	log_open_plain(LOG_LEVEL_ERROR, "");
	p->writer = broker_fixture_new();
	uv_loop_init(&p->writer->loop);
	serve(p);
	broker_fixture_pod(p->writer, "first");
	options.socket_path = p->writer->socket;
	if (informer_attach(&options, &p->inf) < 0)
		abort();
	for (unsigned i = 0; i < TURNS && !status.attached; i++) {
		pair_drain(p);
		informer_status(p->inf, &status);
	}
	if (!status.attached) {
		fprintf(stderr, "pair: not attached: %s\n", status.reason);
		abort();
	}
}

void
pair_next_writer(struct pair *p)
{
	serve_no_more(p);
	broker_fixture_replace(p->writer, false);
	serve(p);
	/* it hears the hang-up, and greets the next one, which answers */
	informer_dispatch(p->inf);
	for (unsigned i = 0; i < TURNS; i++)
		uv_run(&p->writer->loop, UV_RUN_NOWAIT);
	/* that no answer came yet is nothing to look at: whether it is time for that differs by run */
	timerfd_settime(p->inf->timer, 0, &(struct itimerspec){0}, NULL);
}

void
pair_end(struct pair *p)
{
	informer_detach(p->inf);
	serve_no_more(p);
	uv_loop_close(&p->writer->loop);
	broker_fixture_free(p->writer);
}

int
pair_set_up(void **state)
{
	(void)state;
	pair_begin(&pair);
	return 0;
}

int
pair_tear_down(void **state)
{
	(void)state;
	pair_end(&pair);
	return 0;
}

/* Time stands still here: nothing asks the fixture to move it. */
void
test_clock_move(uint64_t ms)
{
	(void)ms;
	abort();
}
