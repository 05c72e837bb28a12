/* SPDX-License-Identifier: Apache-2.0 */
/* What a request asks, in upstream's terms. */
#include <sodium.h>

#include "tests/room.h"
#include "tools/informer-gateway/config/attributes.h"

static struct gw_attributes
of(const struct gw_attributes *asked)
{
	static char name[GW_NAME_MAX];

	return gw_attributes_of(asked, name);
}

/* A name makes a get; none a list, or a watch. Selectors belong to these two. */
TEST_CASE(verbs_follow_from_what_is_named)
{
	struct gw_attributes a;

	a = of(&(struct gw_attributes){
		.resource = "pods", .namespace_ = "web", .name = "a", .field_selector = "x=y"});
	assert_string_equal(a.verb, "get");
	assert_string_equal(a.field_selector, "");
	a = of(&(struct gw_attributes){.resource = "pods", .label_selector = "app=a"});
	assert_string_equal(a.verb, "list");
	assert_string_equal(a.namespace_, "");
	assert_string_equal(a.label_selector, "app=a");
	a = of(&(struct gw_attributes){.group = "apps", .resource = "deployments", .verb = "watch"});
	assert_string_equal(a.verb, "watch");
	assert_string_equal(a.group, "apps");
}

/* A namespace is in itself: who may read it there may read it. */
TEST_CASE(a_namespace_is_in_its_own)
{
	struct gw_attributes a;

	a = of(&(struct gw_attributes){.resource = "namespaces", .name = "web"});
	assert_string_equal(a.namespace_, "web");
	a = of(&(struct gw_attributes){.resource = "namespaces"});
	assert_string_equal(a.namespace_, "");
	a = of(&(struct gw_attributes){.group = "example.com", .resource = "namespaces", .name = "web"});
	assert_string_equal(a.namespace_, "");
	a = of(&(struct gw_attributes){.resource = "nodes", .name = "n1"});
	assert_string_equal(a.namespace_, "");
}

/* A list of one name is of that name, as RBAC's resourceNames want it; of no other selector. */
TEST_CASE(a_list_of_one_name_has_it)
{
	static const struct {
		const char *selector, *name;
	} rows[] = {
		{"metadata.name=a", "a"},
		{"metadata.name==a", "a"},
		{"spec.nodeName=n,metadata.name=a", "a"},
		{"metadata.name=a,metadata.name=b", "a"},
		{"metadata.name=a\\,b", "a,b"},
		{"metadata.name!=a", ""},
		{"metadata.names=a", ""},
		{"xmetadata.name=a", ""},
		{"metadata.name", ""},
		{"metadata.name=", ""},
		{"metadata.name=..", ""},
		{"metadata.name=a/b", ""},
		{"metadata.name=%2e", ""},
		{"spec.nodeName=x\\,metadata.name=a", ""},
		{"", ""},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct gw_attributes a = of(
			&(struct gw_attributes){.resource = "pods", .field_selector = rows[i].selector});

		assert_string_equal(a.verb, "list");
		assert_string_equal(a.name, rows[i].name);
	}
}

/* A name that is longer than any is none. */
TEST_CASE(a_name_that_cannot_be_is_none)
{
	char selector[GW_NAME_MAX + 32] = "metadata.name=";

	memset(selector + strlen(selector), 'x', GW_NAME_MAX);
	assert_string_equal(of(&(struct gw_attributes){.resource = "pods", .field_selector = selector}).name,
			    "");
}

/* Each part counts in a digest, and where one ends and the next begins; so do who asks, and the key. */
TEST_CASE(digests_tell_questions_apart)
{
	static const uint8_t key[GW_DIGEST] = {1}, other_key[GW_DIGEST] = {2};
	const struct gw_attributes a = {"get", "g", "v1", "r", "s", "ns", "n", "f", "l", ""};
	uint8_t digest[GW_DIGEST], other[GW_DIGEST];

	gw_attributes_digest(&a, (const uint8_t *)"me", 2, key, digest);
	gw_attributes_digest(&a, (const uint8_t *)"me", 2, key, other);
	assert_memory_equal(digest, other, GW_DIGEST);
	for (unsigned i = 0; i < 10; i++) {
		struct gw_attributes changed = a;

		((const char **)&changed)[i] = "changed";
		gw_attributes_digest(&changed, (const uint8_t *)"me", 2, key, other);
		assert_memory_not_equal(digest, other, GW_DIGEST);
	}
	gw_attributes_digest(&(struct gw_attributes){"get", "gv", "1", "r", "s", "ns", "n", "f", "l", ""},
			     (const uint8_t *)"me", 2, key, other);
	assert_memory_not_equal(digest, other, GW_DIGEST);
	gw_attributes_digest(&a, (const uint8_t *)"you", 3, key, other);
	assert_memory_not_equal(digest, other, GW_DIGEST);
	gw_attributes_digest(&a, (const uint8_t *)"me", 2, other_key, other);
	assert_memory_not_equal(digest, other, GW_DIGEST);
}

/* A method is a verb; what is no write is a read. */
TEST_CASE(methods_are_verbs)
{
	assert_string_equal(gw_attributes_verb("POST", NULL), "create");
	assert_string_equal(gw_attributes_verb("PUT", "a"), "update");
	assert_string_equal(gw_attributes_verb("PATCH", "a"), "patch");
	assert_string_equal(gw_attributes_verb("DELETE", "a"), "delete");
	assert_string_equal(gw_attributes_verb("DELETE", NULL), "deletecollection");
	assert_string_equal(gw_attributes_verb("GET", NULL), "get");
}
