/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pod to look at: a daemon in this process that has it, a reader, and an open snapshot. For tests of what
 * objects say.
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
	struct informer_resource *pods;
	struct informer_snapshot snap;
	struct informer_object pod;
	char text[READER_WORLD_TEXT], again[READER_WORLD_TEXT];
};

/* json is that of default/web-0; beside it stands a default/other. */
struct reader_world *reader_world_new(const char *json);
void reader_world_free(struct reader_world *w);

/* Another object of the snapshot, by name. */
void reader_world_look(struct reader_world *w, const char *name, struct informer_object *ret);
struct informer_path *reader_world_path(struct reader_world *w, const char *text);

/* An object's JSON, in a buffer of READER_WORLD_TEXT bytes. */
const char *reader_world_json(char *buffer, const struct informer_object *object);

/* A call gave this string: its result, and what it set. */
void assert_text(int r, const char *data, size_t length, const char *expected);

#endif
