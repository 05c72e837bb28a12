/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resources of any kind in a broker_fixture, with their objects.
 */
#ifndef TESTS_SUPPORT_KIND_FIXTURE_H
#define TESTS_SUPPORT_KIND_FIXTURE_H

#include "tests/support/reader_world.h"

/* indexes: the items of the descriptor's list; NULL: none. objects: JSON texts, NULL at the end. */
struct kind_fixture {
	const char *group, *resource, *kind, *indexes;
	bool cluster_scoped;
	const char *objects[4];
};

/* The JSON of an object in namespace n with the UID "u-NAME"; and of one that "u-OWNER" controls. */
#define OBJECT(name, more)                                                                                   \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"uid\":\"u-" name "\"" more "}}"
#define OWNED(name, api, kind, owner, more)                                                                  \
	OBJECT(name, ",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Other\",\"name\":\"other\"},"  \
		     "{\"apiVersion\":\"" api "\",\"kind\":\"" kind "\",\"name\":\"" owner                   \
		     "\",\"uid\":\"u-" owner "\",\"controller\":true}]" more)

/* Add the resource, put its objects, and commit. broker_fixture_put() puts objects of the last one added. */
void kind_fixture_add(struct broker_fixture *fx, const struct kind_fixture *kind);
/* A daemon with these resources, of which the last are pods; a reader, and a snapshot. */
struct reader_world *kind_fixture_world(const struct kind_fixture *kinds, size_t count);

#endif
