/* SPDX-License-Identifier: Apache-2.0 */
/* informer-sim's label and field selectors: grammar, meaning and messages of k8s.io/apimachinery. */
#include "tests/tools/serving/made_object.h"
#include "tools/serving/selector.h"

struct world {
	struct api_registry registry;
	const struct api_resource *pods;
	struct api_object *pod;
};

static int
setup(void **state)
{
	static struct world w;

	api_registry_init(&w.registry);
	w.pods = api_registry_find(&w.registry, "", "v1", "pods");
	w.pod = made_object(
		w.pods,
		"{\"metadata\":{\"name\":\"web-1\",\"namespace\":\"shop\",\"labels\":{\"app\":\"web\","
		"\"tier\":\"front\",\"rank\":\"7\",\"empty\":\"\",\"k8s.io/x\":\"in\"}},"
		"\"spec\":{\"nodeName\":\"n1\",\"hostNetwork\":true},\"status\":{\"phase\":\"Running\"}}");
	*state = &w;
	return 0;
}

static void
end(struct world *w)
{
	api_object_unref(w->pod);
	api_registry_done(&w->registry);
}

TEAR_DOWN(teardown, end)
#define TEST(name) TEST_CASE_OF(struct world *w, setup, teardown, name)

static struct api_selector *
parsed(const struct world *w, bool labels, const char *text)
{
	struct api_selector *selector = NULL;
	_cleanup_(api_freep) char *error = NULL;

	if (labels)
		assert_int_equal(api_labels_parse(text, &selector, &error), 0);
	else
		assert_int_equal(api_fields_parse(w->pods, text, &selector, &error), 0);
	return selector;
}

static bool
matches(const struct world *w, bool labels, const char *text)
{
	struct api_selector *selector = parsed(w, labels, text);
	bool ret = api_selector_matches(selector, w->pod);

	api_selector_free(selector);
	return ret;
}

/* fields_of: the resource of a field selector; NULL: a label selector. */
static void
assert_refused(const struct api_resource *fields_of, const char *text, const char *why)
{
	struct api_selector *selector = NULL;
	_cleanup_(api_freep) char *error = NULL;
	int r = fields_of ? api_fields_parse(fields_of, text, &selector, &error)
			  : api_labels_parse(text, &selector, &error);

	assert_int_equal(r, -EINVAL);
	assert_string_equal(error, why);
}

/* Every operator selects as specified, also objects without the key. */
TEST(every_operator_selects_as_specified)
{
	static const struct {
		const char *text;
		bool matches;
	} cases[] = {
		{"", true},
		{"app=web", true},
		{"app==web", true},
		{"app = web , tier=front", true},
		{"app=web,tier=back", false},
		{"app!=web", false},
		{"app!=db", true},
		{"missing!=x", true},
		{"app in (db, web)", true},
		{"app in (db)", false},
		{"missing in (a)", false},
		{"app notin (db)", true},
		{"app notin (web,db)", false},
		{"missing notin (a)", true},
		{"app", true},
		{"missing", false},
		{"!missing", true},
		{"!app", false},
		{"empty=", true},
		{"empty in ()", true},
		{"empty in (a,)", true},
		{"app in (,)", false},
		{"rank>6", true},
		{"rank>7", false},
		{"rank<8", true},
		{"app>1", false},
		{"k8s.io/x=in", true},
		{"k8s.io/x in (in,notin)", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (matches(w, true, cases[i].text) != cases[i].matches)
			fail_msg("%s: expected %d", cases[i].text, cases[i].matches);
}

TEST_CASE(bad_label_selectors_are_refused_in_the_servers_words)
{
	assert_refused(NULL, "a===", "unable to parse requirement: found '=', expected: identifier");
	assert_refused(NULL, "a b",
		       "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
	assert_refused(NULL, "a in b", "unable to parse requirement: found 'b' expected: '('");
	assert_refused(NULL, "a in (b", "unable to parse requirement: found '', expected: ',' or ')'");
	assert_refused(NULL, "a,", "found '', expected: identifier after ','");
	assert_refused(NULL, "=a", "found '=', expected: !, identifier, or 'end of string'");
	assert_refused(NULL, "a=b c", "found 'c', expected: ',' or 'end of string'");
	assert_refused(
		NULL, "a>x",
		"unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, "
		"the value must be an integer");
	assert_refused(NULL, "weight>-5",
		       "unable to parse requirement: values[0][weight]: Invalid value: \"-5\": a valid "
		       "label must be an empty string or consist of alphanumeric characters, '-', '_' or "
		       "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
		       "'my_value',  or '12345', regex used for validation is "
		       "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
	assert_refused(NULL, "!", "unable to parse requirement: found '', expected: identifier");
}

/* A pod's fields are compared as by the server: an absent field is empty or false. */
TEST(field_selectors_compare_the_pods_fields)
{
	assert_true(matches(w, false, "metadata.name=web-1,metadata.namespace=shop"));
	assert_false(matches(w, false, "metadata.namespace!=shop"));
	assert_true(matches(w, false, "spec.nodeName==n1,status.phase!=Pending,spec.hostNetwork=true"));
	assert_true(matches(w, false, "status.podIP="));
	assert_false(matches(w, false, "status.phase=Pending"));
	assert_true(matches(w, false, ""));
	assert_false(matches(w, false, "metadata.name=a\\,b"));
}

/* A field that the server does not index for the resource is refused. */
TEST(unsupported_fields_are_refused)
{
	assert_refused(w->pods, "spec.foo=x", "field label not supported: spec.foo");
	assert_refused(api_registry_find(&w->registry, "", "v1", "nodes"), "metadata.namespace=x",
		       "field label not supported: metadata.namespace");
	assert_refused(api_registry_find(&w->registry, "apps", "v1", "deployments"), "spec.replicas=1",
		       "\"spec.replicas\" is not a known field selector: only \"metadata.name\", "
		       "\"metadata.namespace\"");
	assert_refused(w->pods, "status.phase",
		       "invalid selector: 'status.phase'; can't understand 'status.phase'");
}

/* "1", "0" or "?": was the pod, now on n1, selected before its last change? */
static char
before(const struct world *w, bool labels, const char *text)
{
	struct api_selector *selector = parsed(w, labels, text);
	int r = api_selector_before(selector, w->pod);

	api_selector_free(selector);
	return r < 0 ? '?' : (char)('0' + r);
}

/* A name never changes, and a node changes only from none. Any other old value is unknown. */
TEST(an_unchangeable_field_tells_the_old_state)
{
	assert_int_equal(before(w, true, ""), '1');
	assert_int_equal(before(w, true, "app=web"), '?');
	assert_int_equal(before(w, false, "metadata.name=web-1"), '1');
	assert_int_equal(before(w, false, "metadata.name=web-2"), '0');
	assert_int_equal(before(w, false, "metadata.namespace!=shop"), '0');
	assert_int_equal(before(w, false, "spec.nodeName=n2"), '0');
	assert_int_equal(before(w, false, "spec.nodeName=n1"), '?'); /* the pod may have had no node */
	assert_int_equal(before(w, false, "spec.nodeName="), '?');
	assert_int_equal(before(w, false, "spec.nodeName!=n1"), '?');
	assert_int_equal(before(w, false, "status.phase=Running,metadata.name=web-2"), '0');
	assert_int_equal(before(w, false, "metadata.name=web-1,status.phase=Running"), '?');
}
