/* SPDX-License-Identifier: Apache-2.0 */
/* May he: the question, and answers of any kind. */
#include "tests/room.h"
#include "tools/informer-gateway/access/access_review.h"
#include "writer/base/message.h"

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

/* The question has all that the request asks, and all that is known of who asks it. */
TEST_CASE(the_question_has_everything)
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
		"\"resourceAttributes\":{\"namespace\":\"web\",\"verb\":\"watch\",\"group\":\"apps\","
		"\"version\":\"v1\",\"resource\":\"deployments\",\"subresource\":\"status\",\"name\":\"a\","
		"\"fieldSelector\":{\"rawSelector\":\"metadata.name=a\"},"
		"\"labelSelector\":{\"rawSelector\":\"app in (b)\"}},"
		"\"user\":\"u\",\"uid\":\"7\",\"groups\":[\"g1\",\"g2\"],\"extra\":{\"k\":[\"v\",\"w\"]}");
	gw_identity_unref(identity);
}

/* What is empty is left out, as upstream has it; a path is asked as one. */
TEST_CASE(what_is_empty_is_left_out)
{
	struct gw_identity *identity = gw_identity_new(GW_IDENTITY_TOKEN, "u", "");
	struct gw_attributes path = gw_attributes_of_path("/metrics");

	assert_document(identity, &(struct gw_attributes){"list", "", "v1", "pods", "", "", "", "", "", ""},
			"\"resourceAttributes\":{\"verb\":\"list\",\"version\":\"v1\",\"resource\":\"pods\"},"
			"\"user\":\"u\"");
	assert_document(identity, &path,
			"\"nonResourceAttributes\":{\"path\":\"/metrics\",\"verb\":\"get\"},\"user\":\"u\"");
	gw_identity_unref(identity);
}

/* A reason is told on one line, cut at a letter's end. */
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
