/* SPDX-License-Identifier: Apache-2.0 */
/* A store with one resource, pods, fed with JSON texts in this process, without daemon or network. */
#ifndef TESTS_SUPPORT_STORE_FIXTURE_H
#define TESTS_SUPPORT_STORE_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "writer/decode/decoder.h"
#include "writer/store/store.h"

/* Pods with the indexes that tests need: namespace, uid, labels, nodeName, podIP, byUser (split at ','). */
extern const char pods_descriptor[];
extern const uint8_t pods_fingerprint[32];

enum store_fixture_change { FX_ADDED, FX_UPDATED, FX_DELETED, FX_NOTHING };

struct store_fixture {
	struct arena *arena;
	struct pins *pins;
	struct store *store;
	struct decoder_schema *schema;
	struct decoder *decoder;
	unsigned pods;			/* the resource's id */
	enum store_fixture_change change; /* of the last put or delete */
	uint32_t found;                   /* store_look()'s result for the last put */
	int result;
	int owns_arena;
};

/* Make a store over a private arena of at most max_bytes (0: 1 GiB). Aborts on failure. */
struct store_fixture *store_fixture_new(uint64_t max_bytes);

/*
 * The same over the caller's arena (and rebuilt table), which the caller closes after store_fixture_free().
 * With owns_arena set, store_fixture_free() closes and frees the arena.
 */
struct store_fixture *store_fixture_over(struct arena *arena, struct intern *intern);
/* The same with pods of another description. */
struct store_fixture *store_fixture_of(struct arena *arena, struct intern *intern, const char *descriptor);
void store_fixture_free(struct store_fixture *fx);
/* For cmocka: *state is store_fixture_new(0). */
int store_fixture_set_up(void **state);
int store_fixture_tear_down(void **state);

/* Decode one object's JSON and put it. Returns store_put()'s result; -EBADMSG when it does not decode. */
int store_fixture_put(struct store_fixture *fx, const char *json);
int store_fixture_putf(struct store_fixture *fx, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same as a watch event of type "MODIFIED" or "DELETED" (with the final state). */
int store_fixture_sayf(struct store_fixture *fx, const char *type, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Delete with the last known state as the final one; lose: the deletion was not seen. */
int store_fixture_delete(struct store_fixture *fx, const char *ns, const char *name);
/* The same with a formatted name; aborts when it is refused. */
void store_fixture_deletef(struct store_fixture *fx, const char *ns, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int store_fixture_lose(struct store_fixture *fx, const char *ns, const char *name);

/*
 * Free decoder and schema, whose caches hold references, and release all unreferenced blocks. Then only
 * blocks that the published root reaches are in use. renew makes a new decoder and schema.
 */
void store_fixture_drain(struct store_fixture *fx);
void store_fixture_renew_decoder(struct store_fixture *fx);

/* Map a slot's memfd as its reader does. Aborts on failure. */
struct slot *test_map_slot(int fd);
void test_unmap_slot(struct slot *slot);

/* The ref of ns/name, or 0. */
uint32_t store_fixture_find(struct store_fixture *fx, const char *ns, const char *name);

/* The object's JSON; free() it. NULL: no object. */
char *store_fixture_json(struct store_fixture *fx, uint32_t ref);

/*
 * The number of objects that the *published* root has under this value's filed value (index_def.h), by the
 * reading code; -1: the index is unknown or damaged.
 */
long store_fixture_count_by_index(struct store_fixture *fx, const char *index, const char *value);

/* Aborts unless this many objects have the formatted value. */
void store_fixture_assert_count(struct store_fixture *fx, long count, const char *index, const char *format,
				...) __attribute__((format(printf, 4, 5)));

/* The published root, and its resource of the pods. */
const struct root *store_fixture_root(const struct store_fixture *fx);
const struct resource *store_fixture_published(const struct store_fixture *fx);

/* Commit and verify; aborts if either fails. */
void store_fixture_commit(struct store_fixture *fx);

/* The refs of all blocks that the published root reaches. Returns their number, and aborts beyond max. */
unsigned store_fixture_blocks(struct store_fixture *fx, uint32_t *ret_refs, unsigned max);

/*
 * Check every tag and every reachable offset of the published root: 0, or -EBADMSG with the reason
 * printed.
 */
int store_fixture_verify(struct store_fixture *fx);

#endif
