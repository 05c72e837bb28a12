/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a store of pods over a private arena for tests: put, delete, look, and check every tag. */
#include "tests/support/arena_fixture.h"
#include "tests/support/store_fixture.h"

#include <sodium.h>

#include "shm-layout/collision.h"
#include "shm-layout/index_def.h"
#include "shm-layout/posting.h"
#include "shm-layout/walk.h"
#include "tests/room.h"
#include "writer/decode/decoder_schema.h"

const char pods_descriptor[] =
	"{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\",\"kind\":\"Pod\",\"singular\":\"pod\","
	"\"shortNames\":[\"po\"],\"namespaced\":true,\"indexes\":["
	"{\"name\":\"namespace\",\"rules\":[{\"as\":\"namespace\"}]},"
	"{\"name\":\"uid\",\"rules\":[{\"path\":\"metadata.uid\",\"as\":\"string\"}]},"
	"{\"name\":\"labels\",\"rules\":[{\"path\":\"metadata.labels\",\"as\":\"keyvalue\"}]},"
	"{\"name\":\"nodeName\",\"rules\":[{\"path\":\"spec.nodeName\",\"as\":\"string\"}]},"
	"{\"name\":\"podIP\",\"rules\":[{\"path\":\"status.podIPs[*].ip\",\"as\":\"string\"}]},"
	"{\"name\":\"byUser\",\"rules\":[{\"path\":\"metadata.annotations.users\",\"as\":\"split\","
	"\"separator\":\",\"}]}"
	"]}";
const uint8_t pods_fingerprint[32] = "pods of the test fixture";

static int
put_draft(struct store_fixture *fx, struct draft d)
{
	bool same;

	fx->found = store_look(fx->store, fx->pods, d.ref, &same);
	fx->change = same ? FX_NOTHING : fx->found & FOUND_NEW ? FX_ADDED : FX_UPDATED;
	return same ? 0 : store_put(fx->store, fx->pods, d, fx->found);
}

static int
delete_known(struct store_fixture *fx, uint32_t known, bool seen, struct draft final)
{
	fx->change = known ? FX_DELETED : FX_NOTHING;
	return known ? store_delete(fx->store, fx->pods, known, seen, final) : 0;
}

static int
put_object(void *context, const char *type, size_t type_length, struct draft d)
{
	struct store_fixture *fx = context;
	const struct object *o = object_at(&fx->arena->view, d.ref);

	if (type_length == strlen("DELETED") && memcmp(type, "DELETED", type_length) == 0)
		fx->result = delete_known(fx,
					  store_find(fx->store, fx->pods, o->key_hash, object_namespace(o),
						     o->namespace_length, object_name(o), o->name_length),
					  true, d);
	else
		fx->result = put_draft(fx, d);
	if (fx->result < 0 || fx->change == FX_NOTHING)
		draft_discard(fx->arena, store_intern(fx->store), d);
	return 0;
}

static int
note_bad(void *context, const char *why)
{
	struct store_fixture *fx = context;

	(void)why;
	fx->result = -EBADMSG;
	return 0;
}

static const struct decoder_events events = {.on_object = put_object, .on_bad_object = note_bad};

static void *
need(void *p, const char *what)
{
	if (p)
		return p;
	fprintf(stderr, "store_fixture: no %s\n", what);
	abort();
}

struct store_fixture *
store_fixture_over(struct arena *arena, struct intern *intern)
{
	return store_fixture_of(arena, intern, pods_descriptor);
}

struct store_fixture *
store_fixture_of(struct arena *arena, struct intern *intern, const char *descriptor)
{
	struct store_fixture *fx = need(calloc(1, sizeof(*fx)), "memory");

	fx->arena = arena;
	fx->pins = need(pins_new(16), "slots");
	if (store_new(fx->arena, intern, fx->pins, &fx->store) < 0 ||
	    store_add_resource(fx->store, descriptor, pods_fingerprint, &fx->pods) < 0 ||
	    store_commit(fx->store) < 0) {
		fprintf(stderr, "store_fixture: no store\n");
		abort();
	}
	store_fixture_renew_decoder(fx);
	return fx;
}

void
store_fixture_renew_decoder(struct store_fixture *fx)
{
	fx->schema = need(decoder_schema_new(NULL, 0, NULL), "schema");
	fx->decoder = need(
		decoder_new(DECODE_WATCH, fx->arena, store_intern(fx->store), fx->schema, &events, fx, 0),
		"decoder");
}

void
store_fixture_drain(struct store_fixture *fx)
{
	static unsigned count;
	char version[32];

	decoder_free(fx->decoder);
	decoder_schema_free(fx->schema);
	fx->decoder = NULL;
	fx->schema = NULL;
	/* references released since the last commit are retired by the next one */
	snprintf(version, sizeof(version), "settled-%u", ++count);
	if (store_set_version(fx->store, fx->pods, version, strlen(version)) < 0 ||
	    store_commit(fx->store) < 0)
		abort();
	store_reclaim(fx->store);
}

struct slot *
test_map_slot(int fd)
{
	void *p = mmap(NULL, SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return need(p == MAP_FAILED ? NULL : p, "slot");
}

void
test_unmap_slot(struct slot *slot)
{
	munmap(slot, SLOT_BYTES);
}

struct store_fixture *
store_fixture_new(uint64_t max_bytes)
{
	struct store_fixture *fx;
	struct arena *arena = need(calloc(1, sizeof(*arena)), "memory");

	if (sodium_init() < 0 || arena_fixture_make(arena, max_bytes ? max_bytes : 1u << 30) < 0)
		need(NULL, "arena");
	fx = store_fixture_over(arena, NULL);
	fx->owns_arena = 1;
	return fx;
}

void
store_fixture_free(struct store_fixture *fx)
{
	if (!fx)
		return;
	decoder_free(fx->decoder);
	decoder_schema_free(fx->schema);
	store_free(fx->store);
	pins_free(fx->pins);
	if (fx->owns_arena) {
		arena_close(fx->arena);
		free(fx->arena);
	}
	free(fx);
}

static int
say(struct store_fixture *fx, const char *type, const char *json)
{
	const char *const pieces[] = {"{\"type\":\"", type, "\",\"object\":", json, "}\n"};
	int r = 0;

	fx->result = -EBADMSG;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]) && r == 0; i++)
		r = decoder_feed(fx->decoder, pieces[i], strlen(pieces[i]));
	if (r < 0) {
		decoder_reset(fx->decoder);
		return r;
	}
	return fx->result;
}

int
store_fixture_put(struct store_fixture *fx, const char *json)
{
	return say(fx, "MODIFIED", json);
}

static __attribute__((format(printf, 3, 0))) int
say_format(struct store_fixture *fx, const char *type, const char *format, va_list args)
{
	char *json;
	int r = vasprintf(&json, format, args);

	if (r < 0)
		return -ENOMEM;
	r = say(fx, type, json);
	free(json);
	return r;
}

int
store_fixture_putf(struct store_fixture *fx, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = say_format(fx, "MODIFIED", format, args);
	va_end(args);
	return r;
}

int
store_fixture_sayf(struct store_fixture *fx, const char *type, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = say_format(fx, type, format, args);
	va_end(args);
	return r;
}

static int
delete_key(struct store_fixture *fx, const char *ns, const char *name, bool seen)
{
	uint64_t hash = object_key_hash(fx->arena->header->hash_key, ns, strlen(ns), name, strlen(name));

	return delete_known(fx, store_find(fx->store, fx->pods, hash, ns, strlen(ns), name, strlen(name)),
			    seen, (struct draft){0});
}

int
store_fixture_delete(struct store_fixture *fx, const char *ns, const char *name)
{
	return delete_key(fx, ns, name, true);
}

void
store_fixture_deletef(struct store_fixture *fx, const char *ns, const char *format, ...)
{
	char name[64];
	va_list args;

	va_start(args, format);
	vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	if (store_fixture_delete(fx, ns, name) < 0) {
		fprintf(stderr, "%s/%s cannot be deleted\n", ns, name);
		abort();
	}
}

int
store_fixture_lose(struct store_fixture *fx, const char *ns, const char *name)
{
	return delete_key(fx, ns, name, false);
}

uint32_t
store_fixture_find(struct store_fixture *fx, const char *ns, const char *name)
{
	uint64_t hash = object_key_hash(fx->arena->header->hash_key, ns, strlen(ns), name, strlen(name));

	return store_find(fx->store, fx->pods, hash, ns, strlen(ns), name, strlen(name));
}

static int
append(const char *data, size_t length, void *context)
{
	return fwrite(data, 1, length, context) == length ? 0 : -EIO;
}

char *
store_fixture_json(struct store_fixture *fx, uint32_t ref)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f;

	if (!ref)
		return NULL;
	f = need(open_memstream(&text, &size), "memory");
	if (value_to_json(value_of_object(&fx->arena->view, ref), append, f) < 0)
		fprintf(f, "(damaged)");
	fclose(f);
	return text;
}

long
store_fixture_count_by_index(struct store_fixture *fx, const char *index, const char *value)
{
	const struct arena_view *view = &fx->arena->view;
	const struct root *root = root_at(view, atomic_load(&fx->arena->header->root));
	const struct resource *res = root ? root_resource(view, root, fx->pods) : NULL;
	struct value indexes;
	struct index_def def;
	const char *why;
	uint32_t n = 0, leaf, link;
	size_t length;
	long count = 0;
	int r;

	if (!res)
		return -1;
	indexes = value_field(value_of_block(view, res->descriptor), "indexes", 7,
			      shape_fingerprint("indexes", 7));
	for (;; n++) {
		if (n >= res->index_count || index_def_read(&def, value_element(indexes, n), &why) < 0)
			return -1;
		if (strcmp(def.name, index) == 0)
			break;
		index_def_done(&def);
	}
	length = index_def_filed_length(&def, strlen(value));
	r = trie_get(view, res->indexes[n], index_value_hash(fx->arena->header->hash_key, value, length),
		     &leaf);
	for (uint32_t i = 0; r > 0 && count >= 0 && (link = leaf_link(view, leaf, i)) != 0; i++) {
		uint32_t ref;

		if (link_is_immediate(link)) {
			int has = trie_get(view, res->ordinals, link_value(link), &ref) > 0
					  ? index_def_has_filed(&def, value_of_object(view, ref), value,
								length)
					  : -1;
			count = has < 0 ? -1 : count + has;
			if (has > 0) /* a value has one entry */
				break;
		} else {
			const struct posting *p = posting_at(view, link);
			struct ordinal_iter it;
			uint32_t steps = 0;

			if (!p) {
				count = -1;
				break;
			}
			if (p->value_length != length ||
			    memcmp(posting_value(p), value, p->value_length) != 0)
				continue;
			for (r = ordinal_first(&it, view, link); r > 0; r = ordinal_next(&it))
				steps++;
			count = r < 0 || steps != p->count ? -1 : count + (long)p->count;
			r = 1;
		}
	}
	index_def_done(&def);
	return r < 0 ? -1 : count;
}

/* refs: NULL: each block's tag is checked instead */
struct visit {
	struct store_fixture *fx;
	struct walk_seen seen;
	uint32_t *refs;
	unsigned count, max;
};

static int
visit_block(void *context, uint32_t ref, const struct block *b)
{
	struct visit *v = context;

	if (!walk_seen_first(&v->seen, ref))
		return 0;
	if (!v->refs && !tag_load_ok(&v->fx->arena->keys, ref_offset(ref), b, b->type_length)) {
		fprintf(stderr, "block %llu: wrong tag\n", (unsigned long long)ref_offset(ref));
		return -EBADMSG;
	}
	if (v->refs) {
		need(v->count < v->max ? v : NULL, "room for all blocks");
		v->refs[v->count++] = ref;
	}
	return 1;
}

static int
visit_all(struct visit *v)
{
	const struct arena_view *view = &v->fx->arena->view;
	struct walk_visitor visitor = {visit_block, v};
	struct walk_damage damage;
	int r = walk_seen_init(&v->seen, view->committed);

	if (r < 0)
		return r;
	r = walk_root(view, atomic_load(&v->fx->arena->header->root), &visitor, &damage);
	if (r == -EBADMSG && damage.why)
		fprintf(stderr, "block %llu: %s\n", (unsigned long long)ref_offset(damage.ref), damage.why);
	walk_seen_done(&v->seen);
	return r;
}

int
store_fixture_verify(struct store_fixture *fx)
{
	return visit_all(&(struct visit){.fx = fx});
}

unsigned
store_fixture_blocks(struct store_fixture *fx, uint32_t *ret_refs, unsigned max)
{
	struct visit v = {.fx = fx, .refs = ret_refs, .max = max};

	need(visit_all(&v) == 0 ? &v : NULL, "sound root");
	return v.count;
}

void
store_fixture_assert_count(struct store_fixture *fx, long count, const char *index, const char *format, ...)
{
	char value[64];
	va_list args;
	long found;

	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	found = store_fixture_count_by_index(fx, index, value);
	if (found != count) {
		fprintf(stderr, "%s has %ld of %s, not %ld\n", index, found, value, count);
		abort();
	}
}

const struct root *
store_fixture_root(const struct store_fixture *fx)
{
	return root_at(&fx->arena->view, atomic_load(&fx->arena->header->root));
}

const struct resource *
store_fixture_published(const struct store_fixture *fx)
{
	return root_resource(&fx->arena->view, store_fixture_root(fx), fx->pods);
}

void
store_fixture_commit(struct store_fixture *fx)
{
	if (store_commit(fx->store) < 0 || store_fixture_verify(fx) < 0) {
		fprintf(stderr, "a commit fails, or what it shows is damaged\n");
		abort();
	}
}

FIXTURE_SET_UP(store_fixture_set_up, store_fixture_new(0))
FIXTURE_TEAR_DOWN(store_fixture_tear_down, store_fixture_free)
