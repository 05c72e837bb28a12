/* SPDX-License-Identifier: Apache-2.0 */
/* A Reflector over a source fixture (source_fixture.h), and its server's answers. */
#ifndef TESTS_SUPPORT_REFLECTOR_FIXTURE_H
#define TESTS_SUPPORT_REFLECTOR_FIXTURE_H

#include "tests/support/source_fixture.h"
#include "writer/reflect/reflector.h"

#define EXPIRED                                                                                              \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"too old resource "                        \
	"version\",\"reason\":\"Expired\",\"code\":410}"

#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":%s}\n", object
#define BOOKMARK                                                                                             \
	"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"           \
	"\"resourceVersion\":\"%u\"}}}\n"
#define ERROR_EVENT(body) "{\"type\":\"ERROR\",\"object\":" body "}\n"
#define END_MARK                                                                                             \
	"{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{"           \
	"\"resourceVersion\":\"%u\","                                                                        \
	"\"annotations\":{\"k8s.io/"                                                                         \
	"initial-events-end\":\"true\"}},\"spec\":{\"containers\":null},\"status\":{}}}\n"

struct reflector_fixture {
	struct source_fixture *fx;
	struct reflector *reflector;
};

/* choices: NULL for none. */
struct reflector_fixture *reflector_fixture_new(const struct list_choices *choices);
/* 0; -1: timers were left behind. */
int reflector_fixture_free(struct reflector_fixture *t);

/* For cmocka: *state is a fixture, of LISTs or of WatchLists. */
int reflector_set_up(void **state);
int reflector_set_up_watch_list(void **state);
int reflector_tear_down(void **state);

/* Let time pass until the Reflector's next timer. */
void wait_out(struct reflector_fixture *t);

/*
 * Start, and answer the first request, which may be a WatchList, with a/x at 5, up to RV 10. The watch from
 * there is open, and the diary is empty.
 */
void start_watching(struct reflector_fixture *t);

/* Send an event that adds a pod a/nI at RV 100 + I. Returns its length. */
size_t send_added(struct reflector_fixture *t, unsigned i);

/* Apply what has arrived, and return what readers then see. */
const char *seen(struct reflector_fixture *t);
struct reflector_status status_of(struct reflector_fixture *t);

#endif
