/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a resource with a LIST of the server, for check_schedule.c. */
#include "writer/resource/consistency_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/object.h"
#include "writer/kube/question.h"

#define PAGE_ITEMS 500u
#define PAGE_BYTES (4u << 20)
#define SEEN 2u /* state of a note: the list had the object */

struct consistency_check {
	const struct lister_watcher *lister_watcher;
	const struct store *store;
	const unsigned *resource;
	const uint8_t *hash_key;
	consistency_done_fn *on_done;
	void *context;
	struct question *question; /* for a page, by `request`; NULL: none is pending */
	void *request;
	char *continue_token; /* of the page read last; NULL: none, or the last page */
	struct consistency_result result;
	uint64_t mask;
	struct note {
		uint64_t key, state; /* hash of namespace and name; of UID and version, odd. 0: empty */
	} notes[];                   /* open addressing; at least half is empty */
};

/* The note of a key, or the empty note for it. */
static struct note *
note_of(struct consistency_check *c, uint64_t key)
{
	uint64_t at = key & c->mask;

	while (c->notes[at].state && c->notes[at].key != key)
		at = (at + 1) & c->mask;
	return &c->notes[at];
}

/* At the start, note each cached object. At the end, name the noted objects that the list lacks. */
static void
each_object(struct consistency_check *c, bool at_start)
{
	uint64_t end = store_resource(c->store, *c->resource)->next_ordinal;

	for (uint64_t ordinal = 0; ordinal < end && c->result.name_count < CONSISTENCY_NAMES; ordinal++) {
		uint32_t ref = store_by_ordinal(c->store, *c->resource, (uint32_t)ordinal);
		const struct object *o = ref ? object_at(&store_arena(c->store)->view, ref) : NULL;
		struct note *n = o ? note_of(c, o->key_hash) : NULL;

		if (n && at_start) {
			n->key = o->key_hash;
			n->state = object_key_hash(c->hash_key, object_uid(o), o->uid_length,
						   object_version(o), o->version_length) |
				   1;
		} else if (n && n->state && n->state != SEEN) {
			snprintf(c->result.names[c->result.name_count++], sizeof(c->result.names[0]),
				 "%.*s%s%.*s is too much: the server does not have it", o->namespace_length,
				 object_namespace(o), o->namespace_length ? "/" : "", o->name_length,
				 object_name(o));
		}
	}
}

/* The string of this name, or "". */
static const char *
text(const cJSON *object, const char *name)
{
	const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));

	return value ? value : "";
}

/* False: no cache can have such an object. */
static bool
compare(struct consistency_check *c, const cJSON *metadata)
{
	const char *ns = text(metadata, "namespace"), *name = text(metadata, "name");
	const char *uid = text(metadata, "uid"), *version = text(metadata, "resourceVersion");
	struct note *n = note_of(c, object_key_hash(c->hash_key, ns, strlen(ns), name, strlen(name)));

	if (!*name || strlen(name) > OBJECT_NAME_MAX || strlen(ns) > OBJECT_NAMESPACE_MAX)
		return false;
	if (n->state == SEEN) /* a second time, on another page */
		return true;
	c->result.objects++;
	if (n->state != (object_key_hash(c->hash_key, uid, strlen(uid), version, strlen(version)) | 1)) {
		*(n->state ? &c->result.different : &c->result.missing) += 1;
		if (c->result.name_count < CONSISTENCY_NAMES)
			snprintf(c->result.names[c->result.name_count++], sizeof(c->result.names[0]),
				 "%s%s%s is %s: the server has it with UID %.63s, resourceVersion %.63s", ns,
				 *ns ? "/" : "", name, n->state ? "another state" : "missing", uid, version);
	}
	c->result.extra -= n->state ? 1 : 0;
	n->state = n->state ? SEEN : 0;
	return true;
}

static int ask(struct consistency_check *c);

/* Compare a page and request the next one. Returns NULL, or why the check is inconclusive. */
static const char *
read_page(struct consistency_check *c, const cJSON *list)
{
	const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(list, "metadata");
	const cJSON *items = cJSON_GetObjectItemCaseSensitive(list, "items"), *item;
	const char *next = text(metadata, "continue");

	if (!cJSON_IsArray(items) && !cJSON_IsNull(items))
		return "it is no list";
	if (!c->continue_token && strcmp(text(metadata, "resourceVersion"), c->result.version) != 0)
		return "it is not of the resourceVersion that was asked for";
	if (c->continue_token && strcmp(c->continue_token, next) == 0)
		return "it has no end";
	for (item = items->child; item; item = item->next)
		if (!compare(c, cJSON_GetObjectItemCaseSensitive(item, "metadata")))
			return "it has items that cannot be read";
	free(c->continue_token);
	c->continue_token = *next ? strdup(next) : NULL;
	return *next && (!c->continue_token || ask(c) < 0) ? "out of memory" : NULL;
}

static void
on_page(void *context, int result, const cJSON *list, const char *message)
{
	struct consistency_check *c = context;

	c->question = NULL;
	c->result.inconclusive = result == 0 ? read_page(c, list) : message;
	if (c->question)
		return;
	if (!c->result.inconclusive && c->result.extra > 0)
		each_object(c, false);
	c->on_done(c->context, &c->result);
}

/* Request the first page, or the page at continue_token. */
static int
ask(struct consistency_check *c)
{
	bool later = c->continue_token;
	struct request_params params = {later ? NULL : c->result.version, later ? NULL : "Exact",
					c->continue_token, PAGE_ITEMS, .metadata_only = true};
	const struct lister_watcher *lw = c->lister_watcher;
	struct question *q = question_new("a page of the list", PAGE_BYTES, on_page, c);
	int r = q ? lw->ask(lw->context, &params, &question_callbacks, q, &c->request) : -ENOMEM;

	if (r == 0)
		c->question = q;
	else
		question_cancel(q);
	return r;
}

int
consistency_check_start(const struct lister_watcher *lister_watcher, const struct store *store,
			const unsigned *resource, consistency_done_fn *on_done, void *context,
			struct consistency_check **ret)
{
	const struct resource *known = store_resource(store, *resource);
	struct consistency_check *c;
	uint64_t room = 16;
	int r;

	while (room < 2 * known->object_count)
		room *= 2;
	c = calloc(1, sizeof(*c) + room * sizeof(c->notes[0]));
	if (!c)
		return -ENOMEM;
	*c = (struct consistency_check){lister_watcher, store, resource, store_arena(store)->header->hash_key,
					on_done, context, .mask = room - 1};
	memcpy(c->result.version, known->version, known->version_length);
	c->result.extra = known->object_count; /* compare() subtracts the objects of the list */
	each_object(c, true);
	r = ask(c);
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
	if (c->question)
		c->lister_watcher->cancel(c->lister_watcher->context, c->request);
	question_cancel(c->question);
	free(c->continue_token);
	free(c);
}
