/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks the server whether it knows an RV, for a watch that hears nothing. Only the answer's status is of
 * interest; a success is not read to its end.
 */
#include "writer/reflect/version_probe.h"

#include <errno.h>
#include <stdlib.h>

struct version_probe {
	struct source source;
	version_probe_fn *on_answer;
	void *context;
	void *request;
	struct answer answer;
};

#define ENOUGH (-ECANCELED)

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct version_probe *f = ctx;

	answer_begin(&f->answer, response);
	if (f->source.on_contact)
		f->source.on_contact(f->source.context);
}

static int
on_data(void *ctx, const void *data, size_t length)
{
	struct version_probe *f = ctx;

	return answer_is_success(&f->answer) ? ENOUGH : answer_append(&f->answer, data, length);
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct version_probe *f = ctx;
	struct request_result ended = { 0 };
	enum version_probe_answer answer = VERSION_PROBE_KNOWN;

	f->request = NULL;
	if (!answer_is_success(&f->answer)) {
		answer_result(&f->answer, result, message, &ended);
		/* A compacted RV is one that the server once had. */
		if (ended.kind == RESULT_TOO_LARGE)
			answer = VERSION_PROBE_AHEAD;
		else if (ended.kind != RESULT_EXPIRED)
			answer = VERSION_PROBE_UNKNOWN;
	}
	f->on_answer(f->context, answer, &ended);
	request_result_done(&ended);
}

int
version_probe_start(const struct source *source, const char *version, version_probe_fn *on_answer,
		    void *context, struct version_probe **ret_probe)
{
	static const struct transport_callbacks callbacks = { on_response, on_data, on_done };
	struct list_params params = {
		.resource_version = version,
		.resource_version_match = "NotOlderThan",
		.limit = 1,
		.fresh_connection = true,
	};
	struct version_probe *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return -ENOMEM;
	f->source = *source;
	f->on_answer = on_answer;
	f->context = context;
	r = source->lister_watcher->list(source->lister_watcher->context, &params, &callbacks, f,
					 &f->request);
	if (r < 0) {
		free(f);
		return r;
	}
	*ret_probe = f;
	return 0;
}

void
version_probe_free(struct version_probe *f)
{
	if (!f)
		return;
	if (f->request)
		f->source.lister_watcher->cancel(f->source.lister_watcher->context, f->request);
	answer_done(&f->answer);
	free(f);
}
