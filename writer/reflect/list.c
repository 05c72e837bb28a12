/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a whole list into a DeltaFIFO, for the Reflector: requests page after page, stages drafts, and queues
 * them by one Replace at the end. On any failure it discards them.
 */
#include "writer/reflect/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/resource_version.h"
#include "shm-layout/root.h"
#include "writer/base/log.h"
#include "writer/base/growing.h"
#include "writer/decode/decoder_schema.h"
#include "writer/fifo/staging.h"

struct list {
	struct source source;
	struct resource_request request;
	list_done_fn *on_done;
	void *context;

	char asked[RESOURCE_VERSION_MAX + 1]; /* the RV, for the first page */
	unsigned limit;
	char *continue_token;		/* of the page read last; NULL: the list's last page */
	bool page_ended;		/* the document is whole */

	struct staging staging;
	struct decoder_schema *keys; /* reads only keys; NULL: a whole list */
	struct bytes hashes;         /* of the keys, u64 each */
	char version[RESOURCE_VERSION_MAX + 1]; /* the first page's; "" before */
};

/* Discard what was read; the next page is the first. */
static void
begin_anew(struct list *l)
{
	staging_discard(&l->staging);
	bytes_clear(&l->hashes);
	l->request.progress.items = 0;
	l->request.progress.remaining = -1;
	l->version[0] = '\0';
	free(l->continue_token);
	l->continue_token = NULL;
}

/* ---- the decoder's reports -------------------------------------------------- */

static uint32_t
known(void *context, const char *ns, size_t ns_length, const char *name, size_t name_length)
{
	const struct list *l = context;

	return delta_fifo_find(l->request.source->fifo, ns, ns_length, name, name_length);
}

static int
on_object(void *context, const char *type, size_t type_length, struct draft d)
{
	struct list *l = context;
	struct delta_fifo *fifo = l->request.source->fifo;
	uint64_t hash;

	(void)type;
	(void)type_length;
	l->request.progress.items++;
	if (!l->keys)
		return staging_add(&l->staging, d.ref);
	hash = delta_fifo_object(fifo, d.ref)->key_hash;
	delta_fifo_discard(fifo, d.ref);
	return bytes_append(&l->hashes, &hash, sizeof(hash));
}

static int
on_bad_object(void *context, const char *why)
{
	struct list *l = context;

	if (l->request.progress.bad++ < 10)
		log_warning("%s: an item of the list is left out: %s", l->request.source->name, why);
	return 0;
}

static bool
is_list_of(const char *text, size_t length, const char *kind)
{
	size_t expected = strlen(kind);

	return length == expected + 4 && memcmp(text, kind, expected) == 0 &&
	       memcmp(text + expected, "List", 4) == 0;
}

/*
 * Check that the answer is a list of the requested kind. An answer of another kind, or without items, would
 * delete everything if taken for an empty list. A list without an RV needs a kind that ends in "List".
 */
static int
check_kind(struct list *l, bool has_version)
{
	const struct source *s = l->request.source;
	size_t length;
	bool has_items;
	const char *kind = decoder_list_kind(l->request.decoder, &length, &has_items);
	bool same = s->kind && length == strlen(s->kind) && memcmp(kind, s->kind, length) == 0;

	if (length > 0 && s->kind && *s->kind && (same || !s->custom || !has_items) &&
	    !is_list_of(kind, length, s->kind))
		return resource_request_end(&l->request, RESULT_FAILED,
					    "the answer is a %.*s, not a %.40sList",
					    length < 40 ? (int)length : 40, kind, s->kind);
	if (!has_items)
		return resource_request_end(&l->request, RESULT_FAILED,
					    "the answer is no list: it has no items");
	if (!has_version && (length <= 4 || memcmp(kind + length - 4, "List", 4) != 0))
		return resource_request_end(
			&l->request, RESULT_FAILED,
			"the answer is no list: it has no metadata.resourceVersion, and no kind "
			"that is one");
	return 0;
}

/*
 * A list requested at an RV must not be older than that RV: it would set the content and readers' copies
 * back. The server's latest state is accepted at any RV: if it is older, the server itself was set back.
 */
static int
check_version(struct list *l, const char *version)
{
	size_t length = strlen(version);

	if (length > RESOURCE_VERSION_MAX)
		return resource_request_end(&l->request, RESULT_FAILED,
					    "the list's resourceVersion is longer than 63 bytes");
	if (l->version[0] == '\0')
		strcpy(l->version, length > 0 ? version : "0");
	if (resource_version_is_less(l->version, strlen(l->version), l->asked, strlen(l->asked)))
		return resource_request_end(&l->request, RESULT_TOO_LARGE,
					    "the list is of resourceVersion %s, older than %s", l->version,
					    l->asked);
	return 0;
}

static int
on_list_end(void *context, const char *resource_version, const char *continue_token, int64_t remaining)
{
	struct list *l = context;
	int r = check_kind(l, *resource_version);

	if (r == 0)
		r = check_version(l, resource_version);
	if (r < 0)
		return r;
	if (l->continue_token && strcmp(l->continue_token, continue_token) == 0)
		return resource_request_end(&l->request, RESULT_FAILED,
					    "the server gives the same continue token again and again");
	free(l->continue_token);
	l->continue_token = *continue_token ? strdup(continue_token) : NULL;
	if (*continue_token && !l->continue_token)
		return -ENOMEM;
	l->request.progress.remaining = *continue_token ? remaining : 0;
	l->page_ended = true;
	return 0;
}

/* ---- pages --------------------------------------------------------------------- */

/* After the last page: put the list into the FIFO. */
static int
apply(struct list *l)
{
	size_t count;
	int r;

	if (!l->keys)
		return staging_replace(&l->staging, l->version, &l->request.progress.items);
	r = delta_fifo_bury_others(l->request.source->fifo, (uint64_t *)(void *)l->hashes.data,
				   l->hashes.length / sizeof(uint64_t), &count);
	l->request.progress.items = count;
	return r;
}

static int
ask(struct list *l)
{
	struct request_params params = {.limit = l->limit, .continue_token = l->continue_token};

	if (!l->continue_token)
		params.resource_version = l->asked;
	l->page_ended = false;
	return resource_request_ask(&l->request, &params);
}

static void
on_end(void *owner, struct request_result *ended)
{
	struct list *l = owner;
	bool again = ended->kind == RESULT_OTHER_SYNTAX;
	int r = 0;

	if (ended->kind == RESULT_EXPIRED && l->continue_token && !l->page_ended) {
		log_info("%s: the list took too long for its continue token; listing again in one piece",
			 l->request.source->name);
		l->limit = 0;
		again = true;
	}
	if (ended->kind == RESULT_OK && !l->page_ended)
		request_result_set(ended, RESULT_FAILED, "the answer is no list");
	if (ended->kind == RESULT_OK)
		l->request.progress.pages++;
	if (again)
		begin_anew(l);
	if (again || (ended->kind == RESULT_OK && l->continue_token)) {
		r = ask(l);
		if (r == 0)
			return;
	} else if (ended->kind == RESULT_OK) {
		r = apply(l);
	}
	if (r < 0)
		request_result_set(ended, r == -ENOMEM ? RESULT_NO_SPACE : RESULT_FAILED,
				   "the list cannot be %s: %s", l->continue_token ? "continued" : "queued",
				   strerror(-r));
	if (ended->kind != RESULT_OK)
		begin_anew(l);
	l->on_done(l->context, ended);
}

int
list_start(const struct source *source, const char *version, unsigned limit, bool keys_only,
	   list_done_fn *on_done, void *context, struct list **ret_list)
{
	static const struct decoder_events events = {
		.on_object = on_object,
		.on_bad_object = on_bad_object,
		.on_list_end = on_list_end,
		.known = known,
	};
	static const struct resource_request_owner calls = {.what = "list", .on_end = on_end};
	struct list *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->source = *source;
	if (keys_only)
		l->source.schema = l->keys = decoder_schema_new_for_keys();
	l->request = (struct resource_request){
		.source = &l->source, .calls = &calls, .owner = l, .in_reserve = keys_only};
	staging_init(&l->staging, source->fifo);
	l->on_done = on_done;
	l->context = context;
	snprintf(l->asked, sizeof(l->asked), "%s", version);
	l->limit = limit;
	l->request.progress.remaining = -1;
	l->request.progress.started_ms = source->clock->now_ms(source->clock);
	r = l->source.schema ? resource_request_read(&l->request, DECODE_LIST, &events) : -ENOMEM;
	if (r == 0)
		r = ask(l);
	if (r < 0)
		list_free(l);
	else
		*ret_list = l;
	return r;
}

void
list_free(struct list *l)
{
	if (!l)
		return;
	resource_request_done(&l->request);
	staging_done(&l->staging);
	decoder_schema_free(l->keys);
	bytes_done(&l->hashes);
	free(l->continue_token);
	free(l);
}

const struct resource_request_progress *
list_progress(const struct list *l)
{
	return &l->request.progress;
}
