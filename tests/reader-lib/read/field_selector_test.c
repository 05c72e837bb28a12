/* SPDX-License-Identifier: Apache-2.0 */
/* Field selectors: the API server's syntax, on any path. */
#include "reader-lib/read/key_object.h"
#include "tests/room.h"
#include "tests/support/reader_world.h"

static const char pod[] = "{\"metadata\":{\"name\":\"web-0\",\"namespace\":\"default\","
			  "\"labels\":{\"a=b\":\"c,d\",\"back\":\"x\\\\y\"}},\"spec\":{\"nodeName\":\"n1\","
			  "\"priority\":-5,\"ratio\":0.25,\"big\":18446744073709551615,\"hostNetwork\":false,"
			  "\"nothing\":null,\"empty\":\"\",\"none\":[],\"containers\":[{\"name\":\"c1\","
			  "\"image\":\"nginx\"},{\"name\":\"c2\",\"image\":\"redis\"},{\"name\":\"c3\"}]}}";

SET_UP(set_up, reader_world_new(pod))

static void
expect(struct reader_world *w, const char *text, int expected)
{
	struct informer_field_selector *selector;
	char why[512] = "";
	int r = informer_field_selector_compile(w->inf, text, strlen(text), &selector);

	if (r < 0)
		informer_error_text(r, why, sizeof(why));
	if (r < 0)
		fail_msg("'%s': %s", text, why);
	r = informer_field_selector_matches(selector, &w->pod);
	if (r != expected)
		fail_msg("'%s': %d", text, r);
	informer_field_selector_free(selector);
}

#define TEST(name) TEST_CASE_OF(struct reader_world *w, set_up, reader_world_tear_down, name)

TEST(strings_are_compared)
{
	expect(w, "spec.nodeName=n1", 1);
	expect(w, "spec.nodeName==n1", 1);
	expect(w, "spec.nodeName!=n1", 0);
	expect(w, "spec.nodeName=n2", 0);
	expect(w, "spec.nodeName!=n2", 1);
	expect(w, "spec.nodeName=n", 0);
	expect(w, "spec.nodeName=n11", 0);
	expect(w, "metadata.name=web-0,metadata.namespace=default", 1);
}

/* Empty requirements, and an empty selector, match every object. */
TEST(requirements_are_joined_by_and)
{
	expect(w, "", 1);
	expect(w, ",, ,", 1);
	expect(w, "spec.nodeName=n1,spec.priority=-5", 1);
	expect(w, "spec.nodeName=n1,spec.priority=5", 0);
	expect(w, ",spec.nodeName=n1, spec.nodeName != n2,", 1);
}

TEST(an_absent_field_counts_as_empty)
{
	expect(w, "spec.absent.deep=", 1);
	expect(w, "spec.absent!=", 0);
	expect(w, "spec.absent=x", 0);
	expect(w, "spec.absent!=x", 1);
	expect(w, "spec.nothing=", 1);
	expect(w, "spec.empty=", 1);
	expect(w, "spec.empty!=", 0);
	expect(w, "spec.nodeName=", 0);
	expect(w, "spec.nodeName!=", 1);
}

TEST(numbers_and_booleans_compare_by_their_json_text)
{
	expect(w, "spec.priority=-5", 1);
	expect(w, "spec.priority=-50", 0);
	expect(w, "spec.priority=-", 0);
	expect(w, "spec.ratio=0.25", 1);
	expect(w, "spec.ratio=0.250", 0);
	expect(w, "spec.big=18446744073709551615", 1);
	expect(w, "spec.hostNetwork=false", 1);
	expect(w, "spec.hostNetwork!=true", 1);
	expect(w, "spec.hostNetwork=", 0);
}

/* An array or object equals no text, not even the empty one. */
TEST(containers_are_equal_to_nothing)
{
	expect(w, "spec.none=", 0);
	expect(w, "spec.none!=", 1);
	expect(w, "spec.containers={}", 0);
}

/* A backslash makes a comma, = or backslash part of the value; names with such characters are quoted. */
TEST(escapes_are_understood)
{
	expect(w, "metadata.labels[\"a=b\"]=c\\,d", 1);
	expect(w, "metadata.labels['a=b']==c\\,d,spec.nodeName=n1", 1);
	expect(w, "metadata.labels.back=x\\\\y", 1);
	expect(w, "metadata.labels.a\\=b=c\\,d", 1);
	expect(w, "spec.nodeName=n\\=1", 0);
	expect(w, "spec.nodeName!=n1\\,", 1);
}

/* With [*], = needs one equal hit, and != needs that no hit is equal. */
TEST(a_path_with_many_hits_matches_when_one_does)
{
	expect(w, "spec.containers[*].image=redis", 1);
	expect(w, "spec.containers[*].image=nginx,spec.containers[*].image=redis", 1);
	expect(w, "spec.containers[*].image!=redis", 0);
	expect(w, "spec.containers[*].image!=postgres", 1);
	expect(w, "spec.containers[*].image=postgres", 0);
	expect(w, "spec.initContainers[*].image=", 1);
	expect(w, "spec.initContainers[*].image!=", 0);
	expect(w, "spec.containers[1].image=redis", 1);
}

static void
refuse(struct reader_world *w, const char *text, unsigned at, const char *says)
{
	struct informer_field_selector *selector;
	char why[512], place[32];

	assert_int_equal(informer_field_selector_compile(w->inf, text, strlen(text), &selector),
			 INFORMER_E_SYNTAX);
	informer_error_text(INFORMER_E_SYNTAX, why, sizeof(why));
	snprintf(place, sizeof(place), "at byte %u:", at);
	if (!strstr(why, place) || !strstr(why, says))
		fail_msg("'%s': %s", text, why);
}

TEST(a_bad_selector_is_refused_with_its_place)
{
	char many[65 * 4 + 1];

	refuse(w, "spec.nodeName", 13, "expected =, == or !=");
	refuse(w, "a=b,spec.nodeName,c=d", 17, "expected =, == or !=");
	refuse(w, "=x", 0, "expected a path");
	refuse(w, "a!x", 2, "expected '=' after '!'");
	refuse(w, "a!", 2, "expected '=' after '!'");
	refuse(w, "a=b=c", 3, "is written \\=");
	refuse(w, "a=b\\n", 3, "a backslash stands before");
	refuse(w, "a=b\\", 3, "a backslash stands before");
	refuse(w, "x=y,a..b=c", 6, "a name is expected here");
	refuse(w, "a[\"b=c", 2, "never closed");
	refuse(w, "a[\"b\\", 2, "never closed");
	refuse(w, "a\\", 1, "a backslash needs a character after it");
	for (int i = 0; i < 65; i++)
		memcpy(many + 4 * (size_t)i, "a=b,", 5);
	refuse(w, many, 256, "more than 64");
}

/* An object of which only the key is known is neither in nor out. */
TEST(a_key_alone_does_not_say)
{
	struct informer_field_selector *selector;
	struct key_object memory;
	struct informer_object object;

	assert_int_equal(key_object_set(&memory, "ns", 2, "a", 1, 0, &object), 0);
	assert_int_equal(informer_field_selector_compile(w->inf, "a=b", 3, &selector), 0);
	assert_int_equal(informer_field_selector_matches(selector, &object), INFORMER_E_NOT_FOUND);
	informer_field_selector_free(selector);
	informer_field_selector_free(NULL);
}
