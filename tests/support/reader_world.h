/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A daemon in this process (broker_fixture.h) with pods, an attached handle, the resource, and a snapshot.
 * For tests of lookups and objects.
 */
#ifndef TESTS_SUPPORT_READER_WORLD_H
#define TESTS_SUPPORT_READER_WORLD_H

#include "tests/support/broker_fixture.h"

#define READER_WORLD_TEXT (1u << 20)

/* A pod with a value of every kind: default/web-0. */
extern const char pod_of_all_kinds[];

struct reader_world {
	struct broker_fixture *fx;
	struct informer *inf;
	struct informer_resource *pods; /* or the requested resource */
	struct informer_snapshot snap;
	struct informer_object pod, other;
	char text[READER_WORLD_TEXT], again[READER_WORLD_TEXT];
};

/* Make a reader of this started fixture, which the world then owns; no snapshot. */
struct reader_world *reader_world_over(struct broker_fixture *fx, const char *resource, uint32_t flags);
/* Make a daemon with this pod (broker_fixture_pod(); NULL: none), and a reader; no snapshot. */
struct reader_world *reader_world_empty(const char *name);
/* Make a daemon with these pods (JSON texts, NULL at the end), a reader, and a snapshot. */
struct reader_world *reader_world_of(const char *const *pods, uint32_t flags);
/* Make the pod default/web-0 of this JSON, which becomes `pod`, and a pod default/other. */
struct reader_world *reader_world_new(const char *json);
void reader_world_free(struct reader_world *w);
/* The same for cmocka: *state is the world. */
int reader_world_tear_down(void **state);

/* What a lookup of this pod says, in a snapshot of its own. */
int reader_get(struct informer *inf, const char *ns, const char *name);
/*
 * List the pods and check that the snapshot is whole: each object has a uid "uid-...", and the resource has
 * this number of objects. Returns 0, or the code of the first call that fails.
 */
int reader_check_whole(const struct informer_snapshot *snap, struct informer_resource *pods);

/* End the snapshot, and begin another. */
void reader_world_renew(struct reader_world *w);

/* Find an object of the snapshot in namespace "default" by name. */
void reader_world_look(struct reader_world *w, const char *name, struct informer_object *ret);
struct informer_path *reader_world_path(struct reader_world *w, const char *text);

/* An object's JSON, in a buffer of READER_WORLD_TEXT bytes. */
const char *reader_world_json(char *buffer, const struct informer_object *object);

/* A call must have succeeded and returned this string. */
void assert_text(int r, const char *data, size_t length, const char *expected);
/* The same for a call that sets data and length. */
#define ASSERT_TEXT(call, expected)                                                                          \
	do {                                                                                                 \
		int result_ = (call);                                                                        \
		assert_text(result_, data, length, expected);                                                \
	} while (0)

#endif
