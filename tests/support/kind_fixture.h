/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources of any kind in a broker_fixture, with their objects.
 */
#ifndef TESTS_SUPPORT_KIND_FIXTURE_H
#define TESTS_SUPPORT_KIND_FIXTURE_H

#include "tests/support/broker_fixture.h"

/* indexes: the items of the descriptor's list; NULL: none. objects: JSON texts, NULL at the end. */
struct kind_fixture {
	const char *group, *resource, *kind, *indexes;
	bool cluster_scoped;
	const char *objects[4];
};

/* Add the resource, put its objects, and commit. broker_fixture_put() puts objects of the last one added. */
void kind_fixture_add(struct broker_fixture *fx, const struct kind_fixture *kind);

#endif
