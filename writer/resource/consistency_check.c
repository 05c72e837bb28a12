/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares a resource with a LIST of the server, for check_schedule.c. What is cached is noted in a table by
 * the hash of its key: which change it came with, and whether the list had it. The object itself is looked at
 * when the list has it, if it is that of the note still.
 */
#include "writer/resource/consistency_check.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/object.h"
#include "writer/reflect/request_result.h"
#include "writer/reflect/turn_share.h"

#define PAGE_ITEMS 500u
#define TURN_BYTES (256u << 10)
#define NAMES_MAX 10u

/* What says nothing about which state an object is in. */
static const char *const dropped[] = {
	"apiVersion",
	"kind",
	"metadata.labels",
	"metadata.annotations",
	"metadata.finalizers",
	"metadata.ownerReferences",
	"metadata.managedFields",
	"spec",
	"status",
	"data",
};

/* state: twice the seq of its last change and two more; the lowest bit: the list had it; 0: nothing is here
 */
struct note {
	uint64_t key, state;
};
#define SEEN 1u

struct consistency_check {
	struct source source;
	const struct store *store;
	const unsigned *resource;
	consistency_done_fn *on_done;
	void *context;

	struct note *notes; /* open addressing; half of it is empty at least */
	uint64_t mask;

	struct decoder_schema *schema;
	struct decoder *decoder;
	struct turn_share share;
	void *request; /* under way, or NULL */
	struct answer answer;
	char version[RESOURCE_VERSION_MAX + 1];
	char *continue_token; /* of the page that was read last; NULL: there is no other */
	bool page_ended, first_page;
	const char *wrong; /* what the list is not */

	struct consistency_result result;
	char *names[NAMES_MAX];
};

/* ---- what is cached ---- */

/* The note of a key, or the place for it. */
static struct note *
note_of(const struct consistency_check *c, uint64_t key)
{
	uint64_t at = key & c->mask;

	while (c->notes[at].state && c->notes[at].key != key)
		at = (at + 1) & c->mask;
	return &c->notes[at];
}

static void
each_object(struct consistency_check *c,
	    void (*visit)(struct consistency_check *c, uint32_t ref, const struct object *o))
{
	uint64_t end = store_resource(c->store, *c->resource)->next_ordinal;

	for (uint64_t ordinal = 0; ordinal < end; ordinal++) {
		uint32_t ref = store_by_ordinal(c->store, *c->resource, (uint32_t)ordinal);
		const struct object *o = ref ? object_at(&c->source.arena->view, ref) : NULL;

		if (o)
			visit(c, ref, o);
	}
}

static void
take_note(struct consistency_check *c, uint32_t ref, const struct object *o)
{
	(void)ref;
	*note_of(c, o->key_hash) = (struct note){o->key_hash, 2 * o->seq + 2};
}

static int
take_notes(struct consistency_check *c)
{
	uint64_t room = 16;

	while (room < 2 * store_resource(c->store, *c->resource)->object_count)
		room *= 2;
	c->notes = calloc(room, sizeof(*c->notes));
	if (!c->notes)
		return -ENOMEM;
	c->mask = room - 1;
	each_object(c, take_note);
	return 0;
}

/* ---- differences ---- */

static void __attribute__((format(printf, 3, 4)))
name(struct consistency_check *c, const struct object *o, const char *format, ...)
{
	va_list arguments;
	char what[256];

	if (c->result.name_count == NAMES_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	if (asprintf(&c->names[c->result.name_count], "%.*s%s%.*s %s", o->namespace_length,
		     object_namespace(o), o->namespace_length ? "/" : "", o->name_length, object_name(o),
		     what) < 0) {
		c->names[c->result.name_count] = NULL;
		return;
	}
	c->result.name_count++;
}

static bool
same_text(const char *a, size_t a_length, const char *b, size_t b_length)
{
	return a_length == b_length && memcmp(a, b, a_length) == 0;
}

/* Is the listed object in another state than the cached one, as far as that has not changed since? */
static bool
is_another(const struct consistency_check *c, const struct note *n, uint32_t ref, const struct object *o)
{
	uint32_t known = store_find(c->store, *c->resource, o->key_hash, object_namespace(o),
				    o->namespace_length, object_name(o), o->name_length);
	const struct object *now = known ? object_at(&c->source.arena->view, known) : NULL;
	const char *uid, *version, *known_uid, *known_version;
	size_t uid_length, version_length, known_uid_length, known_version_length;

	if (!now || 2 * now->seq + 2 != n->state)
		return false;
	store_object_identity(c->store, ref, &uid, &uid_length, &version, &version_length);
	store_object_identity(c->store, known, &known_uid, &known_uid_length, &known_version,
			      &known_version_length);
	return !same_text(uid, uid_length, known_uid, known_uid_length) ||
	       !same_text(version, version_length, known_version, known_version_length);
}

static void
compare(struct consistency_check *c, uint32_t ref, const struct object *o)
{
	struct note *n = note_of(c, o->key_hash);
	const char *uid, *version;
	size_t uid_length, version_length;

	if (n->state & SEEN) /* a second time, on another page */
		return;
	c->result.objects++;
	store_object_identity(c->store, ref, &uid, &uid_length, &version, &version_length);
	if (!n->state) {
		c->result.missing++;
		name(c, o, "is missing: the server has it, at resourceVersion %.*s", (int)version_length,
		     version);
	} else if (is_another(c, n, ref, o)) {
		c->result.different++;
		name(c, o, "is another state: the server's is UID %.*s, resourceVersion %.*s",
		     (int)(uid_length < 64 ? uid_length : 64), uid, (int)version_length, version);
	}
	if (n->state)
		n->state |= SEEN;
}

/* Those that were not in the list; one that was deleted since has no name any more. */
static void
name_extra(struct consistency_check *c, uint32_t ref, const struct object *o)
{
	const struct note *n = note_of(c, o->key_hash);

	(void)ref;
	if (n->state && !(n->state & SEEN))
		name(c, o, "is too much: the server does not have it");
}

static void
find_extra(struct consistency_check *c)
{
	for (uint64_t i = 0; i <= c->mask; i++)
		c->result.extra += c->notes[i].state && !(c->notes[i].state & SEEN);
	if (c->result.extra > 0)
		each_object(c, name_extra);
}

/* ---- the decoder's reports ---- */

static int
on_object(void *context, const char *type, size_t type_length, struct draft d)
{
	struct consistency_check *c = context;

	(void)type;
	(void)type_length;
	compare(c, d.ref, object_at(&c->source.arena->view, d.ref));
	draft_discard(c->source.arena, c->source.intern, d);
	return 0;
}

static int
on_bad_object(void *context, const char *why)
{
	struct consistency_check *c = context;

	(void)why;
	c->wrong = "it has items that cannot be read";
	return -EPROTO;
}

static int
on_list_end(void *context, const char *resource_version, const char *continue_token, int64_t remaining)
{
	struct consistency_check *c = context;
	bool has_items;
	size_t length;

	(void)remaining;
	decoder_list_kind(c->decoder, &length, &has_items);
	if (!has_items)
		c->wrong = "it is no list";
	else if (c->first_page && strcmp(resource_version, c->version) != 0)
		c->wrong = "it is not of the resourceVersion that was asked for";
	else if (c->continue_token && strcmp(c->continue_token, continue_token) == 0)
		c->wrong = "it has no end";
	if (c->wrong)
		return -EPROTO;
	free(c->continue_token);
	c->continue_token = continue_token[0] ? strdup(continue_token) : NULL;
	if (continue_token[0] && !c->continue_token)
		return -ENOMEM;
	c->page_ended = true;
	c->first_page = false;
	return 0;
}

/* ---- the transport's reports ---- */

static int ask(struct consistency_check *c, const struct list_params *params);

static void
finish(struct consistency_check *c, const char *inconclusive)
{
	c->result.inconclusive = inconclusive;
	if (!inconclusive)
		find_extra(c);
	c->on_done(c->context, &c->result);
}

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct consistency_check *c = ctx;

	answer_begin(&c->answer, response);
}

static int
on_data(void *ctx, const void *data, size_t length)
{
	struct consistency_check *c = ctx;

	if (!answer_is_success(&c->answer))
		return answer_append(&c->answer, data, length);
	turn_share_use(&c->share, length);
	return decoder_feed(c->decoder, data, length);
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct consistency_check *c = ctx;
	struct request_result ended = {0};
	struct list_params next = {.limit = PAGE_ITEMS, .metadata_only = true};

	c->request = NULL;
	turn_share_stop(&c->share);
	if (result == 0 && answer_is_success(&c->answer))
		result = decoder_finish(c->decoder);
	if (c->wrong) {
		finish(c, c->wrong);
		return;
	}
	if (result == -EBADMSG) {
		finish(c, "it cannot be read");
		return;
	}
	if (result < 0 || !answer_is_success(&c->answer)) {
		answer_result(&c->answer, result, message, &ended);
		finish(c, ended.message ? ended.message : "it failed");
		request_result_done(&ended);
		return;
	}
	if (!c->page_ended) {
		finish(c, "it is no list");
		return;
	}
	next.continue_token = c->continue_token;
	if (!c->continue_token)
		finish(c, NULL);
	else if (ask(c, &next) < 0)
		finish(c, "out of memory");
}

static int
ask(struct consistency_check *c, const struct list_params *params)
{
	static const struct transport_callbacks callbacks = {on_response, on_data, on_done};

	c->page_ended = false;
	answer_done(&c->answer);
	decoder_reset(c->decoder);
	return c->source.lister_watcher->list(c->source.lister_watcher->context, params, &callbacks, c,
					      &c->request);
}

/* ---- the outside ---- */

static int
make_decoder(struct consistency_check *c)
{
	static const struct decoder_events events = {
		.on_object = on_object,
		.on_bad_object = on_bad_object,
		.on_list_end = on_list_end,
	};

	c->schema = decoder_schema_new(dropped, sizeof(dropped) / sizeof(dropped[0]), NULL);
	if (c->schema)
		c->decoder = decoder_new(DECODE_LIST, c->source.arena, c->source.intern, c->schema, &events,
					 c, c->source.max_item_bytes);
	return c->decoder ? 0 : -ENOMEM;
}

int
consistency_check_start(const struct source *source, const struct store *store, const unsigned *resource,
			consistency_done_fn *on_done_fn, void *context, struct consistency_check **ret)
{
	struct list_params first = {
		.resource_version_match = "Exact", .limit = PAGE_ITEMS, .metadata_only = true};
	const struct resource *known = store_resource(store, *resource);
	struct consistency_check *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->source = *source;
	c->store = store;
	c->resource = resource;
	c->on_done = on_done_fn;
	c->context = context;
	c->first_page = true;
	memcpy(c->version, known->version, known->version_length);
	c->result.version = first.resource_version = c->version;
	c->result.names = (const char *const *)c->names;
	turn_share_init(&c->share, &c->source, &c->request, TURN_BYTES);
	r = take_notes(c);
	if (r == 0)
		r = make_decoder(c);
	if (r == 0)
		r = ask(c, &first);
	if (r < 0)
		consistency_check_free(c);
	else
		*ret = c;
	return r;
}

void
consistency_check_free(struct consistency_check *c)
{
	if (!c)
		return;
	if (c->request)
		c->source.lister_watcher->cancel(c->source.lister_watcher->context, c->request);
	turn_share_stop(&c->share);
	decoder_free(c->decoder);
	decoder_schema_free(c->schema);
	answer_done(&c->answer);
	for (size_t i = 0; i < c->result.name_count; i++)
		free(c->names[i]);
	free(c->continue_token);
	free(c->notes);
	free(c);
}
