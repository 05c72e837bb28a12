/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what a published root shows, for tests that compare states. Uses shm-layout's reading code, over a
 * view that verifies each block's tag.
 */
#include "tests/support/arena_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/collision.h"
#include "shm-layout/consumer.h"
#include "shm-layout/index_def.h"
#include "shm-layout/key_hash.h"
#include "shm-layout/object.h"
#include "shm-layout/posting.h"
#include "shm-layout/root.h"
#include "shm-layout/shortcut.h"
#include "shm-layout/tombstone.h"
#include "shm-layout/trie.h"
#include "shm-layout/value_field.h"

struct text {
	FILE *out;
	struct arena_view view; /* verifies */
	const uint8_t *hash_key;
	const struct root *root;
	const struct resource *res;
};

static int
emit(const char *data, size_t length, void *context)
{
	return fwrite(data, 1, length, context) == length ? 0 : -EIO;
}

static void
put_document(struct text *t, const char *name, struct value v)
{
	fprintf(t->out, "%s ", name);
	if (value_to_json(v, emit, t->out) < 0)
		fprintf(t->out, "DAMAGED: a document");
	fputc('\n', t->out);
}

static void
put_bytes(struct text *t, const char *name, const uint8_t *bytes, size_t length)
{
	fprintf(t->out, "%s ", name);
	for (size_t i = 0; i < length; i++)
		fprintf(t->out, "%02x", bytes[i]);
	fputc('\n', t->out);
}

/* ---- tries ---- */

/* The number of links in the leaves of a trie. */
static size_t
count_links(struct text *t, uint32_t root)
{
	struct trie_iter it;
	size_t count = 0;
	int r;

	for (r = trie_first(&it, &t->view, root); r > 0; r = trie_next(&it))
		for (uint32_t i = 0; leaf_link(&t->view, it.leaf, i) != 0; i++)
			count++;
	if (r < 0)
		fprintf(t->out, "DAMAGED: a trie\n");
	return count;
}

/* True if the trie has this link under this hash. */
static bool
leads_to(struct text *t, uint32_t root, uint64_t hash, uint32_t link)
{
	uint32_t leaf, found;

	if (trie_get(&t->view, root, hash, &leaf) <= 0)
		return false;
	for (uint32_t i = 0; (found = leaf_link(&t->view, leaf, i)) != 0; i++)
		if (found == link)
			return true;
	return false;
}

/* ---- objects ---- */

struct values {
	struct text *text;
	uint32_t ordinal;
	unsigned index;
};

/* True if the index has this ordinal under this value. */
static bool
is_filed(struct text *t, uint32_t root, const char *value, size_t length, uint32_t ordinal)
{
	uint32_t leaf, link;

	if (trie_get(&t->view, root, index_value_hash(t->hash_key, value, length), &leaf) <= 0)
		return false;
	for (uint32_t i = 0; (link = leaf_link(&t->view, leaf, i)) != 0; i++) {
		const struct posting *p = link_is_immediate(link) ? NULL : posting_at(&t->view, link);
		struct ordinal_iter it;

		if (link_is_immediate(link) && link_value(link) == ordinal)
			return true;
		if (!p || p->value_length != length || memcmp(posting_value(p), value, length) != 0)
			continue;
		for (int r = ordinal_first(&it, &t->view, link); r > 0; r = ordinal_next(&it))
			if (it.ordinal == ordinal)
				return true;
	}
	return false;
}

static int
put_value(const char *value, size_t length, void *context)
{
	const struct values *v = context;
	struct text *t = v->text;

	fprintf(t->out, "    index %u %.*s%s\n", v->index, (int)length, value,
		is_filed(t, t->res->indexes[v->index], value, length, v->ordinal) ? ""
										  : " DAMAGED: not filed");
	return 0;
}

static void
put_values(struct text *t, uint32_t ref, uint32_t ordinal)
{
	struct value indexes = value_at_name(value_of_block(&t->view, t->res->descriptor), "indexes");

	for (unsigned i = 0; i < t->res->index_count; i++) {
		struct values v = {t, ordinal, i};
		struct index_def def;
		const char *why;

		if (index_def_read(&def, value_element(indexes, i), &why) < 0) {
			fprintf(t->out, "DAMAGED: index %u: %s\n", i, why);
			continue;
		}
		if (index_def_each_filed(&def, value_of_object(&t->view, ref), put_value, &v) < 0)
			fprintf(t->out, "DAMAGED: values\n");
		index_def_done(&def);
	}
}

static void
put_object(struct text *t, const struct object *o, uint32_t ref)
{
	fprintf(t->out, "%.*s/%.*s ordinal %u seq %" PRIu64 " created %" PRIu64, o->namespace_length,
		object_namespace(o), o->name_length, object_name(o), o->ordinal, o->seq, o->created_seq);
	put_document(t, "", value_of_object(&t->view, ref));
}

static void
put_found_objects(struct text *t)
{
	struct trie_iter it;
	int r;

	for (r = trie_first(&it, &t->view, t->res->ordinals); r > 0; r = trie_next(&it)) {
		const struct object *o = link_is_immediate(it.leaf) ? NULL : object_at(&t->view, it.leaf);

		if (!o) {
			fprintf(t->out, "DAMAGED: an object\n");
			continue;
		}
		fprintf(t->out, "  ");
		put_object(t, o, it.leaf);
		if (!leads_to(t, t->res->identity, o->key_hash, link_of(o->ordinal)))
			fprintf(t->out, "DAMAGED: not found by key\n");
		put_values(t, it.leaf, o->ordinal);
	}
	if (r < 0)
		fprintf(t->out, "DAMAGED: ordinals\n");
}

/* A shortcut's cell must lead to the object that the ordinals have, or to a newer one than the root. */
static void
check_cell(struct text *t, uint32_t ref)
{
	const struct object *o = object_at(&t->view, ref);
	uint32_t known = 0;

	if (!o)
		fprintf(t->out, "DAMAGED: a shortcut to no object\n");
	else if (o->seq <= t->root->seq &&
		 (trie_get(&t->view, t->res->ordinals, o->ordinal, &known) <= 0 || known != ref))
		fprintf(t->out, "DAMAGED: a shortcut to what %.*s was before\n", o->name_length,
			object_name(o));
}

static void
check_shortcuts(struct text *t)
{
	const struct resource *r = t->res;
	uint32_t count = 0;
	void *cells = r->by_key ? shortcut_cells(&t->view, r->by_key, SHORTCUT_BY_KEY, &count) : NULL;

	if (r->by_key && !cells)
		fprintf(t->out, "DAMAGED: shortcut by key\n");
	for (uint32_t i = 0; cells && i < count; i++) {
		uint64_t cell = atomic_load((_Atomic uint64_t *)cells + i);

		if (cell)
			check_cell(t, (uint32_t)cell);
	}
	cells = r->by_ordinal ? shortcut_cells(&t->view, r->by_ordinal, SHORTCUT_BY_ORDINAL, &count) : NULL;
	if (r->by_ordinal && !cells)
		fprintf(t->out, "DAMAGED: shortcut by ordinal\n");
	for (uint32_t i = 0; cells && i < count; i++) {
		uint32_t ref = shortcut_cell(cells, count, i);

		if (ref)
			check_cell(t, ref);
	}
}

/* ---- what changed when ---- */

static void
put_tombstone(struct text *t, uint32_t ref)
{
	const struct tombstone *stone = tombstone_at(&t->view, ref);
	const struct object *o = stone ? object_at(&t->view, stone->object) : NULL;

	if (!o) {
		fprintf(t->out, "DAMAGED: a tombstone\n");
		return;
	}
	fprintf(t->out, "  seq %" PRIu64 " deleted at %" PRIu64 " %" PRIu64 " flags %u ", stone->seq,
		stone->deleted_boot_ns, stone->deleted_wall_ns, stone->flags);
	put_object(t, o, stone->object);
	if (!leads_to(t, t->res->deleted, tombstone_hash(o->key_hash, TOMBSTONE_BY_KEY), ref))
		fprintf(t->out, "DAMAGED: not found among the deleted\n");
}

static void
put_by_seq(struct text *t)
{
	struct trie_iter it;
	uint32_t ref;
	int r;

	for (r = trie_first(&it, &t->view, t->res->by_seq); r > 0; r = trie_next(&it)) {
		if (!link_is_immediate(it.leaf))
			put_tombstone(t, it.leaf);
		else if (trie_get(&t->view, t->res->ordinals, link_value(it.leaf), &ref) <= 0 ||
			 !object_at(&t->view, ref))
			fprintf(t->out, "DAMAGED: by seq to no object\n");
		else
			fprintf(t->out, "  seq %" PRIu64 " ordinal %u\n", object_at(&t->view, ref)->seq,
				link_value(it.leaf));
	}
	if (r < 0)
		fprintf(t->out, "DAMAGED: by seq\n");
}

/* ---- the whole ---- */

static void
put_resource(struct text *t)
{
	const struct resource *r = t->res;

	put_document(t, "resource", value_of_block(&t->view, r->descriptor));
	fprintf(t->out,
		"state %u objects %" PRIu64 " next ordinal %" PRIu64 " changed %" PRIu64 " valued %" PRIu64
		" floor %" PRIu64 " version %.*s\n",
		r->state, r->object_count, r->next_ordinal, r->changed_seq, r->valued_seq, r->tombstone_floor,
		r->version_length, r->version);
	put_bytes(t, "fingerprint", r->fingerprint, sizeof(r->fingerprint));
	put_bytes(t, "cluster", r->cluster, sizeof(r->cluster));
	if (r->status)
		put_document(t, "status", value_of_block(&t->view, r->status));
	put_found_objects(t);
	check_shortcuts(t);
	put_by_seq(t);
	fprintf(t->out, "links: %zu ordinals, %zu identity, %zu by seq, %zu deleted",
		count_links(t, r->ordinals), count_links(t, r->identity), count_links(t, r->by_seq),
		count_links(t, r->deleted));
	for (unsigned i = 0; i < r->index_count; i++)
		fprintf(t->out, ", %zu", count_links(t, r->indexes[i]));
	fputc('\n', t->out);
}

static void
put_consumers(struct text *t)
{
	const struct block *b = block_at(&t->view, t->root->consumers, BLOCK_CONSUMERS,
					 sizeof(struct consumer));
	const struct consumer *c = b ? (const struct consumer *)(const void *)b->payload : NULL;

	if (!b)
		fprintf(t->out, "DAMAGED: consumers\n");
	for (uint32_t i = 0; b && i < block_length(b) / sizeof(*c); i++) {
		fprintf(t->out, "consumer %.*s seq %" PRIu64 " seen %" PRIu64 " uid %u", c[i].name_length,
			c[i].name, c[i].seq, c[i].last_seen_wall_ns, c[i].uid);
		put_bytes(t, "", c[i].lineage, sizeof(c[i].lineage));
	}
}

char *
arena_text(const struct arena_view *view, const struct tag_keys *keys)
{
	const struct header *header = (const struct header *)(const void *)view->base;
	struct text t = {.view = *view, .hash_key = header->hash_key};
	char *bytes = NULL;
	size_t size = 0;

	t.view.verifier = block_verifier_new(keys);
	t.out = open_memstream(&bytes, &size);
	if (!t.out || !t.view.verifier)
		abort();
	t.root = root_at(&t.view, atomic_load(&((struct header *)(uintptr_t)header)->root));
	if (!t.root) {
		fprintf(t.out, "DAMAGED: no root\n");
	} else {
		fprintf(t.out, "epoch %" PRIu64 " seq %" PRIu64 " table %" PRIu64 " at %" PRIu64 " %" PRIu64,
			t.root->epoch, t.root->seq, t.root->table, t.root->committed_boot_ns,
			t.root->committed_wall_ns);
		put_bytes(&t, " lineage", t.root->lineage, sizeof(t.root->lineage));
		if (t.root->consumers)
			put_consumers(&t);
		for (uint32_t i = 0; i < t.root->resource_count; i++) {
			t.res = root_resource(&t.view, t.root, i);
			if (t.res)
				put_resource(&t);
			else if (!t.root->resources[i] && i + 1 == t.root->resource_count)
				fprintf(t.out, "more to come\n");
			else
				fprintf(t.out, "DAMAGED: resource %u\n", i);
		}
	}
	fclose(t.out);
	block_verifier_free(t.view.verifier);
	return bytes;
}
