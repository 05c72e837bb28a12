/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of `informerctl wait`: their syntax and the objects that meet them, as in kubectl. */
#include "tests/room.h"
#include "tools/informerctl/wait_condition.h"

static const char pod[] =
	"{\"metadata\":{\"name\":\"a\",\"generation\":3,\"labels\":{\"a.b/c\":\"x\"}},"
	"\"spec\":{\"containers\":[{\"name\":\"one\",\"image\":\"i:1\"},{\"name\":\"two\",\"image\":\"i:2\"}]"
	",\"hostNetwork\":false},"
	"\"status\":{\"phase\":\" Running \",\"ready\":2,\"half\":0.5,\"nothing\":null,\"conditions\":["
	"{\"type\":7,\"status\":\"True\"},{\"type\":\"Initialized\",\"status\":\"True\"},"
	"{\"type\":\"Ready\",\"status\":\"False\",\"observedGeneration\":3},"
	"{\"type\":\"Old\",\"status\":\"True\",\"observedGeneration\":2}]}}";

static int
met(const char *text, const char *json, const char **ret_why)
{
	struct wait_condition condition;
	cJSON *node = cJSON_Parse(json);
	int r = wait_condition_parse(text, &condition, ret_why);

	assert_non_null(node);
	if (r < 0)
		fail_msg("%s: %s", text, *ret_why);
	r = wait_condition_met(&condition, field_of_cjson(node), ret_why);
	wait_condition_done(&condition);
	cJSON_Delete(node);
	return r;
}

static void
assert_met(const char *text, const char *json, int result)
{
	const char *why = "";
	int r = met(text, json, &why);

	if (r != result)
		fail_msg("%s: %d %s", text, r, why);
}

/* Type and status match in any case. The first condition of the type decides. */
TEST_CASE(a_condition_is_met_by_its_status)
{
	assert_met("condition=Initialized", pod, 1);
	assert_met("condition=initialized=TRUE", pod, 1);
	assert_met("condition=Ready", pod, 0);
	assert_met("condition=Ready=False", pod, 1);
	assert_met("condition=Ready=Fals", pod, 0);
	assert_met("condition=Read", pod, 0);
	assert_met("condition=Absent", pod, 0);
	assert_met("condition=Absent,Ready=false", pod, 1);
	assert_met("condition=Ready,Initialized", pod, 1);
	assert_met("condition=Ready=Unknown", pod, 0);
	assert_met("condition=Ready", "{}", 0);
	assert_met("condition=Ready", "{\"status\":{\"conditions\":{}}}", 0);
	assert_met("condition=Ready", "{\"status\":{\"conditions\":[1,null]}}", 0);
}

/* A condition of an older generation is not met. Its own observedGeneration counts before the status's. */
TEST_CASE(an_outdated_condition_is_not_met)
{
	static const char by_status[] =
		"{\"metadata\":{\"generation\":%d},\"status\":{\"observedGeneration\":%d,\"conditions\":["
		"{\"type\":\"Ready\",\"status\":\"True\"},"
		"{\"type\":\"Own\",\"status\":\"True\",\"observedGeneration\":9}]}}";
	char json[400];

	assert_met("condition=Old", pod, 0);
	assert_met("condition=Old=False", pod, 0);
	snprintf(json, sizeof(json), by_status, 2, 1);
	assert_met("condition=Ready", json, 0);
	assert_met("condition=Own", json, 1);
	snprintf(json, sizeof(json), by_status, 2, 2);
	assert_met("condition=Ready", json, 1);
}

/* A path is met by any value, or by the given value. Blanks around the value do not count. */
TEST_CASE(a_path_is_met_by_what_it_leads_to)
{
	static const struct {
		const char *text;
		int result;
	} cases[] = {
		{"jsonpath={.status.phase}=Running", 1},
		{"jsonpath=.status.phase=Running", 1},
		{"jsonpath=status.phase=\"Running\"", 1},
		{"jsonpath={status.phase}='Pending'", 0},
		{"JSONPATH={.status.phase}", 1},
		{"jsonpath={.status.absent}", 0},
		{"jsonpath={.status.absent.deeper}=x", 0},
		{"jsonpath={.status.phase.deeper}", 0},
		{"jsonpath={.status.ready}=2", 1},
		{"jsonpath={.status.ready}=02", 0},
		{"jsonpath={.status.half}=0.5", 1},
		{"jsonpath={.status.nothing}=<nil>", 1},
		{"jsonpath={.spec.hostNetwork}=false", 1},
		{"jsonpath={.spec.containers[0].image}=i:1", 1},
		{"jsonpath={.spec.containers[-1].image}=i:2", 1},
		{"jsonpath={.spec.containers[2].image}", 0},
		{"jsonpath={.spec.containers[-3].image}", 0},
		{"jsonpath={.spec.containers}", 1},
		{"jsonpath={.metadata.labels.a\\.b/c}=x", 1},
		{"jsonpath={.metadata.labels['a.b/c']}=x", 1},
		{"jsonpath={.status.conditions[?(@.type==\"Ready\")].status}=False", 1},
		{"jsonpath={.status.conditions[?(@.type=='Ready')].status}=True", 0},
		{"jsonpath={.status.conditions[?( @.type == \"Absent\" )].status}", 0},
		{"jsonpath={.status.conditions[?(@.type==7)].status}=True", 1},
		{"jsonpath={.status.conditions[?(@.type==\"7\")].status}", 0},
		{"jsonpath={.spec.containers[?(@.name!=\"one\")].image}=i:2", 1},
		{"jsonpath={.status.conditions[?(@.observedGeneration==2)].type}=Old", 1},
		{"jsonpath={.spec.containers[?(@.absent)].image}", 0},
		{"jsonpath={.metadata.labels[*]}=x", 1},
		{"jsonpath={.metadata.labels.*}=x", 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_met(cases[i].text, pod, cases[i].result);
}

/* Several values, and a value without a text, are an error. */
TEST_CASE(a_path_to_more_than_a_value_is_an_error)
{
	const char *why = "";

	assert_int_equal(met("jsonpath={.spec.containers[*].image}=i:1", pod, &why), -EINVAL);
	assert_string_equal(why, "given jsonpath expression matches more than one value");
	assert_int_equal(met("jsonpath={.spec.containers}=x", pod, &why), -EINVAL);
	assert_string_equal(why, "jsonpath leads to a nested object or list which is not supported");
}

/* An argument that is no condition is refused, with a reason if it resembles one. */
TEST_CASE(an_argument_that_is_no_condition_is_refused)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"ready", ""},
		{"deleted", ""},
		{"condition", ""},
		{"condition=", "a condition has a type"},
		{"condition==True", "a condition has a type"},
		{"jsonpath=", "there is no path"},
		{"jsonpath={}", "there is no path"},
		{"jsonpath={.a}=", "any value"},
		{"jsonpath={.a}=''", "any value"},
		{"jsonpath={.a}=b=c", "any value"},
		{"jsonpath={.a", "a name is missing"},
		{"jsonpath=.a}", "names and [...]"},
		{"jsonpath={.a}{.b}", "names and [...]"},
		{"jsonpath={..a}", "a name is missing"},
		{"jsonpath={.a[}", "'[' is followed by"},
		{"jsonpath={.a[1}", "']' is missing"},
		{"jsonpath={.a[*}", "']' is missing"},
		{"jsonpath={.a['b}", "a text does not end"},
		{"jsonpath={.a[?(b)]}", "begins with '@'"},
		{"jsonpath={.a[?(@.b==)]}", "compares with"},
		{"jsonpath={.a[?(@.b>1)]}", "by == or !="},
		{"jsonpath={.a[?(@.b==1]}", "ends with ')]'"},
		{"jsonpath=a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a", "32 steps"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct wait_condition condition;
		const char *why = NULL;

		if (wait_condition_parse(cases[i].text, &condition, &why) != -EINVAL)
			fail_msg("%s is taken", cases[i].text);
		if (!strstr(why, cases[i].why) || !*why != !*cases[i].why)
			fail_msg("%s: %s", cases[i].text, why);
	}
}

/* create and delete need no fields of the object. */
TEST_CASE(creation_and_deletion_are_conditions)
{
	struct wait_condition condition;
	const char *why;

	assert_int_equal(wait_condition_parse("Delete", &condition, &why), 0);
	assert_int_equal(condition.kind, WAIT_DELETE);
	assert_int_equal(wait_condition_parse("create", &condition, &why), 0);
	assert_int_equal(condition.kind, WAIT_CREATE);
	wait_condition_done(&condition);
}
