/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store with one resource, pods, fed with JSON texts in this process: no daemon, no network.
 */
#ifndef TESTS_SUPPORT_STORE_FIXTURE_H
#define TESTS_SUPPORT_STORE_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "writer/decode/decoder.h"
#include "writer/store/store.h"

/*
 * Pods with the indexes that tests ask for: namespace, uid, labels, nodeName, podIP, byUser (split at
 * ',').
 */
extern const char pods_descriptor[];
extern const uint8_t pods_fingerprint[32];

enum store_fixture_change { CHANGE_ADDED, CHANGE_UPDATED, CHANGE_DELETED, CHANGE_NOTHING };

struct store_fixture {
	struct arena *arena;
	struct pins *pins;
	struct store *store;
	struct decoder_schema *schema;
	struct decoder *decoder;
	unsigned pods;			/* the resource's id */
	enum store_fixture_change change; /* of the last put or delete */
	uint32_t found;                   /* what store_look() said of the last put */
	int result;
	int owns_arena;
};

/* A private arena of at most max_bytes (0: 1 GiB). Aborts when it cannot be had. */
struct store_fixture *store_fixture_new(uint64_t max_bytes);

/*
 * The same over an arena (and rebuilt table) of the caller's, who closes it after store_fixture_free(); with
 * owns_arena set, that closes and free()s it.
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
/* The same as a watch's event: type "MODIFIED" or "DELETED" (the object is its final state). */
int store_fixture_sayf(struct store_fixture *fx, const char *type, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Delete: the last state known is final; lose: the deletion was not seen. */
int store_fixture_delete(struct store_fixture *fx, const char *ns, const char *name);
/* The same with a formatted name; aborts when it is refused. */
void store_fixture_deletef(struct store_fixture *fx, const char *ns, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int store_fixture_lose(struct store_fixture *fx, const char *ns, const char *name);

/*
 * Free decoder and schema, whose memory of names and texts holds references, and let everything that nobody
 * refers to go: what is in use then is what the published root reaches. renew makes new ones.
 */
void store_fixture_drain(struct store_fixture *fx);
void store_fixture_renew_decoder(struct store_fixture *fx);

/* Map a slot's memfd as its reader would. Aborts when it cannot. */
struct slot *test_map_slot(int fd);
void test_unmap_slot(struct slot *slot);

/* The ref of ns/name, or 0. */
uint32_t store_fixture_find(struct store_fixture *fx, const char *ns, const char *name);

/* The object's JSON; free() it. NULL when there is none. */
char *store_fixture_json(struct store_fixture *fx, uint32_t ref);

/*
 * How many objects the *published* root has under this value, by the reading code; -1 when the index is
 * unknown or damaged.
 */
long store_fixture_count_by_index(struct store_fixture *fx, const char *index, const char *value);

/* Aborts unless so many have this formatted value. */
void store_fixture_assert_count(struct store_fixture *fx, long count, const char *index, const char *format,
				...) __attribute__((format(printf, 4, 5)));

/* The published root, and what it says of the pods. */
const struct root *store_fixture_root(const struct store_fixture *fx);
const struct resource *store_fixture_published(const struct store_fixture *fx);

/* Commit, and verify; aborts when one of these fails. */
void store_fixture_commit(struct store_fixture *fx);

/*
 * Check every tag and every reachable offset of the published root: 0, or -EBADMSG with the reason
 * printed.
 */
int store_fixture_verify(struct store_fixture *fx);

#endif
