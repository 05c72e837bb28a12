/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader and what it reads: a daemon in this process (broker_fixture.h) with pods, a handle that is
 * attached to it, the resource, and a snapshot. For tests of what lookups find and objects say.
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
	struct informer_resource *pods; /* or another one that was asked for */
	struct informer_snapshot snap;
	struct informer_object pod, other;
	char text[READER_WORLD_TEXT], again[READER_WORLD_TEXT];
};

/* A reader of this fixture, which has started and is the world's from now on; no snapshot. */
struct reader_world *reader_world_over(struct broker_fixture *fx, const char *resource, uint32_t flags);
/* A daemon with this pod (broker_fixture_pod(); NULL: none), and a reader; no snapshot. */
struct reader_world *reader_world_empty(const char *name);
/* A daemon that has these pods (JSON texts, NULL at the end), a reader, and a snapshot of them. */
struct reader_world *reader_world_of(const char *const *pods, uint32_t flags);
/* One pod to look at: json is that of default/web-0, which is `pod`; beside it stands a default/other. */
struct reader_world *reader_world_new(const char *json);
void reader_world_free(struct reader_world *w);
/* The same for cmocka: *state is the world. */
int reader_world_tear_down(void **state);

/* The snapshot ends, and another begins. */
void reader_world_renew(struct reader_world *w);

/* Another object of the snapshot, of namespace "default", by name. */
void reader_world_look(struct reader_world *w, const char *name, struct informer_object *ret);
struct informer_path *reader_world_path(struct reader_world *w, const char *text);

/* An object's JSON, in a buffer of READER_WORLD_TEXT bytes. */
const char *reader_world_json(char *buffer, const struct informer_object *object);

/* A call gave this string: its result, and what it set. */
void assert_text(int r, const char *data, size_t length, const char *expected);
/* The same of a call that sets data and length. */
#define ASSERT_TEXT(call, expected)                                                                          \
	do {                                                                                                 \
		int result_ = (call);                                                                        \
		assert_text(result_, data, length, expected);                                                \
	} while (0)

#endif
