/* SPDX-License-Identifier: Apache-2.0 */
/* TokenReviews and SubjectAccessReviews: the questions, and answers of any kind. */
#include "tests/room.h"
#include "tools/informer-gateway/access/reviews.h"
#include "writer/base/message.h"

/* ---- TokenReview ---- */

static const struct gw_texts nobody = {0};
static char *own_items[] = {(char[]){"informer-gateway"}};
static const struct gw_texts own = {own_items, 1};

/* The question contains the token, and the audiences if any are configured. */
TEST_CASE(a_token_review_names_the_audiences)
{
	char *document = gw_token_review_document("t\"1", &nobody);

	assert_string_equal(document, "{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\","
				      "\"spec\":{\"token\":\"t\\\"1\"}}");
	free(document);
	document = gw_token_review_document("t", &own);
	assert_non_null(strstr(document, "\"spec\":{\"audiences\":[\"informer-gateway\"],\"token\":\"t\"}"));
	free(document);
}

static int
answer(const char *status, const struct gw_texts *audiences, struct gw_identity **ret)
{
	char body[1024];
	_cleanup_(message_freep) char *error = NULL;
	int r;

	snprintf(body, sizeof(body), "{\"kind\":\"TokenReview\",\"spec\":{\"token\":\"t\"},\"status\":%s}",
		 status);
	r = gw_token_review_answer(body, strlen(body), audiences, ret, &error);
	assert_true((r == -EBADMSG) == (error != NULL));
	return r;
}

/* The identity has user, uid, groups and extra of the answer. */
TEST_CASE(an_identity_has_all_parts_of_the_answer)
{
	struct gw_identity *identity = NULL;

	assert_int_equal(answer("{\"authenticated\":true,\"user\":{\"username\":\"u\",\"uid\":\"7\","
				"\"groups\":[\"a\",\"b\"],\"extra\":{\"k\":[\"1\",\"2\"],\"l\":[]}}}",
				&nobody, &identity),
			 0);
	assert_string_equal(identity->user, "u");
	assert_string_equal(identity->uid, "7");
	assert_int_equal(identity->groups.count, 2);
	assert_string_equal(identity->groups.items[1], "b");
	assert_string_equal(identity->extra[0].name, "k");
	assert_string_equal(identity->extra[0].values.items[1], "2");
	gw_identity_unref(identity);
}

/* Only authenticated:true is a yes, and only for one of our audiences if we asked for them. */
TEST_CASE(anything_but_a_yes_is_a_refusal)
{
	static const char *const none[] = {"{}", "{\"authenticated\":false}", "{\"authenticated\":\"true\"}",
					   "{\"authenticated\":1,\"user\":{\"username\":\"u\"}}",
					   "{\"authenticated\":null}"};
	struct gw_identity *identity = NULL;

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(answer(none[i], &nobody, &identity), -EACCES);
	assert_int_equal(answer("{\"authenticated\":true,\"user\":{\"username\":\"u\"}}", &own, &identity),
			 -EACCES);
	assert_int_equal(
		answer("{\"authenticated\":true,\"user\":{\"username\":\"u\"},\"audiences\":[\"vault\"]}",
		       &own, &identity),
		-EACCES);
	assert_int_equal(answer("{\"authenticated\":true,\"user\":{\"username\":\"u\"},\"audiences\":[\"x\","
				"\"informer-gateway\"]}",
				&own, &identity),
			 0);
	gw_identity_unref(identity);
}

TEST_CASE(a_malformed_answer_is_an_error)
{
	static const char *const none[] = {
		"[]",
		"7",
		"{\"authenticated\":true}",
		"{\"authenticated\":true,\"user\":{\"username\":7}}",
		"{\"authenticated\":true,\"user\":{\"username\":\"u\",\"groups\":[7]}}",
		"{\"authenticated\":true,\"user\":{\"username\":\"u\",\"extra\":{\"k\":\"v\"}}}",
		"{\"authenticated\":true,\"user\":{\"username\":\"admin\\u0000x\"}}"};
	struct gw_identity *identity = NULL;

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(answer(none[i], &nobody, &identity), -EBADMSG);
	assert_null(identity);
}

static uint64_t
expiry(const char *token)
{
	return gw_token_expiry(token, strlen(token));
}

/* The expiry of a JWT is read. A token without a readable expiry has none. */
TEST_CASE(a_jwt_says_when_it_ends)
{
	assert_int_equal(expiry("e30.eyJleHAiOjE3MDAwMDAwNjB9.x"), 1700000060);
	assert_true(expiry("e30.eyJleHAiOiIxIn0.x") == UINT64_MAX); /* {"exp":"1"} */
	assert_true(expiry("e30.eyJleHAiOi0xfQ.x") == UINT64_MAX);  /* {"exp":-1} */
	assert_true(expiry("e30.e30.x") == UINT64_MAX);
	assert_true(expiry("e30.***.x") == UINT64_MAX);
	assert_true(expiry("e30.eyJleHAiOjE3MDAwMDAwNjB9") == UINT64_MAX);
	assert_true(expiry("opaque") == UINT64_MAX);
	assert_true(expiry("..") == UINT64_MAX);
}

/* ---- SubjectAccessReview ---- */

static void
assert_document(const struct gw_identity *identity, const struct gw_attributes *a, const char *spec)
{
	char expected[1024], *document = gw_access_review_document(identity, a);

	snprintf(
		expected, sizeof(expected),
		"{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\",\"spec\":{%s}}",
		spec);
	assert_string_equal(document, expected);
	free(document);
}

/* The question contains every attribute of the request and everything known of the identity. */
TEST_CASE(an_access_review_is_complete)
{
	struct gw_identity *identity = gw_identity_new(GW_IDENTITY_TOKEN, "u", "7");

	gw_texts_add(&identity->groups, "g1");
	gw_texts_add(&identity->groups, "g2");
	gw_texts_add(gw_identity_extra(identity, "k"), "v");
	gw_texts_add(gw_identity_extra(identity, "k"), "w");
	assert_document(
		identity,
		&(struct gw_attributes){"watch", "apps", "v1", "deployments", "status", "web", "a",
					"metadata.name=a", "app in (b)", ""},
		"\"resourceAttributes\":{\"verb\":\"watch\",\"namespace\":\"web\",\"group\":\"apps\","
		"\"version\":\"v1\",\"resource\":\"deployments\",\"subresource\":\"status\",\"name\":\"a\","
		"\"fieldSelector\":{\"rawSelector\":\"metadata.name=a\"},"
		"\"labelSelector\":{\"rawSelector\":\"app in (b)\"}},"
		"\"user\":\"u\",\"uid\":\"7\",\"groups\":[\"g1\",\"g2\"],\"extra\":{\"k\":[\"v\",\"w\"]}");
	gw_identity_unref(identity);
}

/* Empty members are left out, as upstream does. A path is asked about as a path. */
TEST_CASE(empty_members_are_left_out)
{
	struct gw_identity *identity = gw_identity_new(GW_IDENTITY_TOKEN, "u", "");
	struct gw_attributes path = gw_attributes_of_path("/metrics");

	assert_document(identity, &(struct gw_attributes){"list", "", "v1", "pods", "", "", "", "", "", ""},
			"\"resourceAttributes\":{\"verb\":\"list\",\"version\":\"v1\",\"resource\":\"pods\"},"
			"\"user\":\"u\"");
	assert_document(identity, &path,
			"\"nonResourceAttributes\":{\"verb\":\"get\",\"path\":\"/metrics\"},\"user\":\"u\"");
	gw_identity_unref(identity);
}

/* A reason becomes one line of at most 512 bytes, cut after a whole character. */
TEST_CASE(a_reason_is_one_short_line)
{
	_cleanup_(message_freep) char *reason = NULL;
	char body[2048] =
		"{\"kind\":\"SubjectAccessReview\",\"status\":{\"allowed\":false,\"reason\":\"a\\nb ";
	bool allowed = true;

	for (int i = 0; i < 400; i++)
		strcat(body, "\xc3\xa4");
	strcat(body, "\"}}");
	assert_int_equal(gw_access_review_answer(body, strlen(body), &allowed, &reason, NULL), 0);
	assert_false(allowed);
	assert_int_equal(strncmp(reason, "a?b \xc3\xa4", 6), 0);
	assert_true(strlen(reason) <= 512 && strlen(reason) % 2 == 0);
}
