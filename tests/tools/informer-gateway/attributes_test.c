/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes that a request is authorized by, in upstream's terms. */
#include <sodium.h>

#include "tests/room.h"
#include "tools/informer-gateway/config/attributes.h"

static struct gw_attributes
of(const struct gw_attributes *asked)
{
	static char name[GW_NAME_MAX];

	return gw_attributes_of(asked, name);
}

/* A path with a name is a get, one without is a list or a watch. Only these two have selectors. */
TEST_CASE(the_verb_follows_from_the_path)
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

/* A request for a namespace is authorized in that namespace. */
TEST_CASE(a_namespace_belongs_to_itself)
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

/* A list that selects metadata.name=X has the name X, for RBAC. No other selector gives a name. */
TEST_CASE(a_list_of_one_name_has_that_name)
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

TEST_CASE(a_name_that_is_too_long_is_none)
{
	char selector[GW_NAME_MAX + 32] = "metadata.name=";

	memset(selector + strlen(selector), 'x', GW_NAME_MAX);
	assert_string_equal(of(&(struct gw_attributes){.resource = "pods", .field_selector = selector}).name,
			    "");
}

/* Digests differ if any attribute, a boundary between two, the identity or the key differs. */
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

TEST_CASE(each_method_has_its_verb)
{
	assert_string_equal(gw_attributes_verb("POST", NULL), "create");
	assert_string_equal(gw_attributes_verb("PUT", "a"), "update");
	assert_string_equal(gw_attributes_verb("PATCH", "a"), "patch");
	assert_string_equal(gw_attributes_verb("DELETE", "a"), "delete");
	assert_string_equal(gw_attributes_verb("DELETE", NULL), "deletecollection");
	assert_string_equal(gw_attributes_verb("GET", NULL), "get");
}
