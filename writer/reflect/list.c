/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings one whole list into a DeltaFIFO, for the Reflector: asks for page after page, feeds the decoder,
 * gathers drafts, and puts them in by one Replace at the end; on any failure it takes them back.
 */
#include "writer/reflect/list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/resource_version.h"
#include "shm-layout/root.h"
#include "writer/base/log.h"
#include "shm-layout/time_ns.h"
#include "writer/reflect/turn_share.h"
#include "writer/fifo/staging.h"

#define TURN_BYTES (512u << 10) /* about two milliseconds of decoding */

struct list {
	struct source source;
	list_done_fn *on_done;
	void *context;

	struct decoder *decoder;
	void *request;			/* under way, or NULL */
	struct turn_share share;
	struct answer answer;
	char *first_version;		/* what the first request asked for; NULL for none */
	unsigned limit;
	char *continue_token;		/* of the page that was read last; NULL: it was the last page */
	bool page_ended;		/* the document is whole */

	struct staging staging;
	char version[RESOURCE_VERSION_MAX + 1];	/* the first page's; "" before */
	const char *why;		/* what is wrong with the answer, if its content is */
	bool older;			/* that is: than what was asked for */
	char words[256];		/* room for that */

	struct list_progress progress;
	uint64_t asked_ms;		/* for the page that is under way */
};

static int ask(struct list *l, const struct list_params *params);

static void
discard_items(struct list *l)
{
	staging_discard(&l->staging);
	l->progress.items = 0;
	l->progress.remaining = -1;
	l->version[0] = '\0';
}

/* ---- the decoder's reports -------------------------------------------------- */

static int
on_object(void *context, const char *type, size_t type_length, struct draft d)
{
	struct list *l = context;

	(void)type;
	(void)type_length;
	if (staging_add(&l->staging, d.ref) < 0) {
		draft_discard(l->source.arena, l->source.intern, d);
		return -ENOMEM;
	}
	l->progress.items = l->staging.count;
	return 0;
}

static int
on_bad_object(void *context, const char *why)
{
	struct list *l = context;

	if (l->progress.bad_items++ < 10)
		log_warning("%s: an item of the list is left out: %s", l->source.name, why);
	return 0;
}

/*
 * Is it a list of what was asked for? An answer of another kind, or without items, taken for an empty list
 * would delete everything.
 */
static void
check_kind(struct list *l)
{
	size_t length, expected = l->source.kind ? strlen(l->source.kind) : 0;
	bool has_items;
	const char *kind = decoder_list_kind(l->decoder, &length, &has_items);
	bool same = l->source.kind && length == expected && memcmp(kind, l->source.kind, length) == 0;

	if (length > 0 && expected > 0 && (same || !l->source.custom || !has_items) &&
	    !(length == expected + 4 && memcmp(kind, l->source.kind, expected) == 0 &&
	      memcmp(kind + expected, "List", 4) == 0)) {
		snprintf(l->words, sizeof(l->words), "the answer is a %.*s, not a %.40sList",
			 length < 40 ? (int)length : 40, kind, l->source.kind);
		l->why = l->words;
	} else if (!has_items) {
		l->why = "the answer is no list: it has no items";
	}
}

static bool
says_that_it_is_a_list(const struct list *l)
{
	size_t length;
	bool has_items;
	const char *kind = decoder_list_kind(l->decoder, &length, &has_items);

	return length > 4 && memcmp(kind + length - 4, "List", 4) == 0;
}

/*
 * A list at an RV is not older than that. One that is would take back what is known, and readers' copies of
 * it; a server that says this of its latest state is believed, for then it was itself set back.
 */
static void
check_age(struct list *l)
{
	const char *asked = l->first_version ? l->first_version : "";

	l->older = resource_version_is_less(l->version, strlen(l->version), asked, strlen(asked));
	if (!l->older)
		return;
	snprintf(l->words, sizeof(l->words), "the list is of resourceVersion %s, older than %s", l->version,
		 asked);
	l->why = l->words;
}

static int
on_list_end(void *context, const char *resource_version, const char *continue_token, int64_t remaining)
{
	struct list *l = context;
	size_t length = strlen(resource_version);

	check_kind(l);
	if (l->why)
		return -EPROTO;
	if (length == 0 && !says_that_it_is_a_list(l))
		l->why = "the answer is no list: it has no metadata.resourceVersion, and no kind that is one";
	else if (length > RESOURCE_VERSION_MAX)
		l->why = "the list's resourceVersion is longer than 63 bytes";
	if (l->why)
		return -EPROTO;
	if (l->version[0] == '\0' && length == 0)
		memcpy(l->version, "0", 2);
	else if (l->version[0] == '\0')
		memcpy(l->version, resource_version, length + 1);
	check_age(l);
	if (l->why)
		return -EPROTO;
	if (l->continue_token && strcmp(l->continue_token, continue_token) == 0) {
		l->why = "the server gives the same continue token again and again";
		return -EPROTO;
	}
	free(l->continue_token);
	l->continue_token = NULL;
	if (continue_token[0] != '\0') {
		l->continue_token = strdup(continue_token);
		if (!l->continue_token)
			return -ENOMEM;
	}
	l->progress.remaining = continue_token[0] ? remaining : 0;
	l->page_ended = true;
	return 0;
}

/* ---- the end of the list ----------------------------------------------------- */

static void
finish(struct list *l, struct request_result *ended)
{
	if (ended->kind != RESULT_OK)
		discard_items(l);
	l->on_done(l->context, l, ended);
}

static void
replace_all(struct list *l, struct request_result *ended)
{
	int r = staging_replace(&l->staging, l->version);

	if (r < 0)
		request_result_set(ended, r == -ENOMEM ? RESULT_NO_SPACE : RESULT_FAILED,
				   "the list cannot be queued: %s", strerror(-r));
}

/* ---- the transport's reports --------------------------------------------------- */

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct list *l = ctx;

	answer_begin(&l->answer, response);
	if (l->source.wire && answer_is_success(&l->answer))
		wire_begin(l->source.wire, l->source.name, &l->answer, l->decoder);
	l->progress.waited_ms += l->source.clock->now_ms(l->source.clock) - l->asked_ms;
	if (l->source.on_contact)
		l->source.on_contact(l->source.context);
}

static int
on_data(void *ctx, const void *data, size_t length)
{
	struct list *l = ctx;
	uint64_t before;
	int r;

	l->progress.bytes += length;
	if (l->source.on_contact)
		l->source.on_contact(l->source.context);
	if (!answer_is_success(&l->answer))
		return answer_append(&l->answer, data, length);
	turn_share_use(&l->share, length);
	before = time_ns(CLOCK_MONOTONIC);
	r = decoder_feed(l->decoder, data, length);
	l->progress.decoded_ns += time_ns(CLOCK_MONOTONIC) - before;
	return r;
}

static bool
is_memory(int error)
{
	return error == -ENOSPC || error == -ENOMEM;
}

/* What a page that came to its end, or did not, means; `ended` stays OK when it is in. */
static void
judge_page(struct list *l, int result, const char *message, struct request_result *ended)
{
	uint64_t offset = 0;
	const char *error;

	if (l->why) {
		request_result_set(ended, l->older ? RESULT_TOO_LARGE : RESULT_FAILED, "%s", l->why);
		return;
	}
	if (is_memory(result)) {
		answer_result(&l->answer, result, message, ended);
		return;
	}
	if (!answer_is_success(&l->answer) || (result < 0 && result != -EBADMSG)) {
		answer_result(&l->answer, result, message, ended);
		return;
	}
	if (result == 0)
		result = decoder_finish(l->decoder);
	if (is_memory(result)) {
		answer_result(&l->answer, result, message, ended);
	} else if (l->why) {
		request_result_set(ended, l->older ? RESULT_TOO_LARGE : RESULT_FAILED, "%s", l->why);
	} else if (result < 0) {
		error = decoder_error(l->decoder, &offset);
		answer_unreadable(&l->answer, "list", offset, error, ended);
	} else if (!l->page_ended) {
		request_result_set(ended, RESULT_FAILED, "the answer is no list");
	}
}

/* The whole list anew: its first page is asked for next. */
static struct list_params
begin_again(struct list *l)
{
	discard_items(l);
	free(l->continue_token);
	l->continue_token = NULL;
	return (struct list_params){.resource_version = l->first_version, .limit = l->limit};
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct list *l = ctx;
	bool later_page = l->continue_token != NULL && !l->page_ended;
	struct request_result ended = { 0 };
	struct list_params next = { .limit = l->limit };
	bool again;
	int r;

	l->request = NULL;
	turn_share_stop(&l->share);
	again = !l->why && l->source.wire &&
		wire_falls_back(l->source.wire, l->source.name, &l->answer, result, l->decoder);
	if (!again)
		judge_page(l, result, message, &ended);
	if (ended.kind == RESULT_EXPIRED && later_page) {
		log_info("%s: the list took too long for its continue token; listing again in one piece",
			 l->source.name);
		request_result_done(&ended);
		l->limit = 0;
		again = true;
	}
	if (again) {
		next = begin_again(l);
	} else if (ended.kind == RESULT_OK && l->continue_token) {
		l->progress.pages++;
		next.continue_token = l->continue_token;
	} else {
		if (ended.kind == RESULT_OK) {
			l->progress.pages++;
			replace_all(l, &ended);
		}
		finish(l, &ended);
		request_result_done(&ended);
		return;
	}
	r = ask(l, &next);
	if (r < 0) {
		request_result_set(&ended, is_memory(r) ? RESULT_NO_SPACE : RESULT_FAILED,
				   "cannot ask for the next page: %s", strerror(-r));
		finish(l, &ended);
		request_result_done(&ended);
	}
}

static const struct transport_callbacks callbacks = { on_response, on_data, on_done };

static int
ask(struct list *l, const struct list_params *params)
{
	struct list_params asked = *params;

	asked.protobuf = l->source.wire && wire_wants_protobuf(l->source.wire);
	l->page_ended = false;
	l->asked_ms = l->source.clock->now_ms(l->source.clock);
	answer_done(&l->answer);
	decoder_reset(l->decoder);
	return l->source.lister_watcher->list(l->source.lister_watcher->context, &asked, &callbacks, l,
					      &l->request);
}

int
list_start(const struct source *source, const struct list_params *params, list_done_fn *on_done_fn,
	   void *context, struct list **ret_list)
{
	static const struct decoder_events events = {
		.on_object = on_object, .on_bad_object = on_bad_object, .on_list_end = on_list_end,
	};
	struct list_params first = { .resource_version = params->resource_version, .limit = params->limit };
	struct list *l = calloc(1, sizeof(*l));
	int r = -ENOMEM;

	if (!l)
		return -ENOMEM;
	l->source = *source;
	staging_init(&l->staging, source->fifo);
	l->on_done = on_done_fn;
	l->context = context;
	l->limit = params->limit;
	l->progress.remaining = -1;
	l->progress.started_ms = source->clock->now_ms(source->clock);
	turn_share_init(&l->share, &l->source, &l->request, TURN_BYTES);
	l->decoder = decoder_new(DECODE_LIST, source->arena, source->intern, source->schema, &events, l,
				 source->max_item_bytes);
	if (l->decoder)
		decoder_expect_type(l->decoder, source->api_version, source->kind);
	if (params->resource_version)
		l->first_version = strdup(params->resource_version);
	if (l->decoder && (l->first_version || !params->resource_version))
		r = ask(l, &first);
	if (r < 0) {
		list_free(l);
		return r;
	}
	*ret_list = l;
	return 0;
}

void
list_free(struct list *l)
{
	if (!l)
		return;
	if (l->request)
		l->source.lister_watcher->cancel(l->source.lister_watcher->context, l->request);
	turn_share_stop(&l->share);
	decoder_free(l->decoder);
	staging_done(&l->staging);
	answer_done(&l->answer);
	free(l->continue_token);
	free(l->first_version);
	free(l);
}

void
list_get_progress(const struct list *l, struct list_progress *ret)
{
	*ret = l->progress;
}
