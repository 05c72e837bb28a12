/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a server's answers to a Reflector, from the first LIST or WatchList through DeltaFIFO and
 * pipeline into a store: the store stays consistent, and nothing is left behind.
 *
 * The input: 'L' for a Reflector that lists, anything else for one that begins by watching; then answers,
 * each ended by a zero byte. An answer is a digit (which status, and whether the stream ends in good order)
 * and a body, which comes in pieces.
 */
#include "tests/fuzz/fuzz.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <fcntl.h>

#include "tests/support/reflector_fixture.h"
#include "writer/base/log.h"

#define ANSWERS_MAX 12u

static void
end(struct scripted_request *request, int result)
{
	if (!request->open)
		return; /* the Reflector gave it up meanwhile */
	request->open = false;
	request->callbacks->on_done(request->ctx, result, result ? "the connection broke" : "");
}

static void
answer(struct reflector_fixture *t, const uint8_t *data, size_t size)
{
	static const int statuses[] = {200, 200, 200, 200, 404, 410, 429, 500};
	uint8_t how = size ? *data : 0;
	struct scripted_request *request = server_request(t->fx);
	struct transport_response response = {.status = statuses[how & 7],
					      .content_type = "application/json",
					      .retry_after_s = how & 4,
					      .etag = ""};
	size_t piece = 1 + (size % 61), at = size ? 1 : 0;
	int r = 0;

	request->callbacks->on_response(request->ctx, &response);
	while (request->open && at < size && r == 0) {
		size_t n = size - at < piece ? size - at : piece;
		char *copy = malloc(n); /* so that a sanitizer sees each byte read behind it */

		must(copy != NULL);
		memcpy(copy, data + at, n);
		r = request->callbacks->on_data(request->ctx, copy, n);
		free(copy);
		at += n;
		if (request->open && request->paused)
			seen(t);
	}
	end(request, r < 0 ? r : how & 8 ? -ECONNRESET : 0);
}

/* Let time pass until a request comes. Returns false if none will come. */
static bool
is_asked(struct reflector_fixture *t)
{
	for (int i = 0; i < 16 && !server_has_request(t->fx); i++) {
		uint64_t wait = virtual_clock_next(&t->fx->clock);

		if (wait == CLOCK_NEVER)
			return false;
		virtual_clock_advance(&t->fx->clock, wait);
	}
	return server_has_request(t->fx);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct list_choices choices = {.watch_list = size == 0 || *data != 'L'};
	static bool quiet;
	struct reflector_fixture *t;
	size_t at = 1;

	if (!quiet) {
		log_open(LOG_LEVEL_ERROR, open("/dev/null", O_WRONLY | O_CLOEXEC));
		quiet = true;
	}
	t = reflector_fixture_new(&choices);
	reflector_start(t->reflector, "", 0);
	for (unsigned i = 0; i < ANSWERS_MAX && at < size && is_asked(t); i++) {
		const uint8_t *stop = memchr(data + at, 0, size - at);
		size_t n = stop ? (size_t)(stop - (data + at)) : size - at;

		answer(t, data + at, n);
		while (applier_run(t->fx->applier))
			;
		at += n + 1;
		t->fx->diary[0] = '\0';
	}
	must(store_fixture_verify(t->fx->store) == 0);
	must(reflector_fixture_free(t) == 0);
	return 0;
}
