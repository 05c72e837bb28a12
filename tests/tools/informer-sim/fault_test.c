/* SPDX-License-Identifier: Apache-2.0 */
/* Fault scripts: which rule acts when and how often, and the messages about bad scripts. */
#include "tests/room.h"
#include "tools/informer-sim/fault.h"

struct world {
	struct api_registry registry;
	const struct api_resource *pods, *deployments;
	struct sim_faults *faults;
};

static int
setup(void **state)
{
	static struct world w;

	api_registry_init(&w.registry);
	w.pods = api_registry_find(&w.registry, "", "v1", "pods");
	w.deployments = api_registry_find(&w.registry, "apps", "v1", "deployments");
	w.faults = sim_faults_new();
	*state = &w;
	return 0;
}

static void
end(struct world *w)
{
	sim_faults_free(w->faults);
	api_registry_done(&w->registry);
}

TEAR_DOWN(teardown, end)

static void
script(struct world *w, const char *text)
{
	_cleanup_(api_freep) char *error = NULL;

	if (sim_faults_add(w->faults, text, &error) < 0)
		fail_msg("%s", error);
}

/* What happens to a new request: a status, 0 for nothing, else -kind. */
static int
request(struct world *w, const char *verb, const struct api_resource *resource, const char *rv, unsigned page)
{
	struct sim_fault_moment moment = {.verb = verb, .resource = resource, .rv = rv, .page = page};
	struct sim_fault fault;

	if (!sim_faults_ask(w->faults, &moment, &fault))
		return 0;
	return fault.kind == SIM_FAULT_STATUS ? fault.code : -(int)fault.kind;
}

/* The same for a watch of pods that has sent so many events. */
static int
stream(struct world *w, struct sim_fault_seen *seen, uint64_t events, uint64_t elapsed_ms, bool line)
{
	struct sim_fault_moment moment = {.verb = "WATCH",
					  .resource = w->pods,
					  .page = 1,
					  .streaming = true,
					  .events = events,
					  .elapsed_ms = elapsed_ms,
					  .line = line,
					  .seen = seen};
	struct sim_fault fault;

	if (!sim_faults_ask(w->faults, &moment, &fault))
		return 0;
	return fault.kind == SIM_FAULT_STATUS ? fault.code : -(int)fault.kind;
}

#define TEST(name) TEST_CASE_OF(struct world *w, setup, teardown, name)

/* A rule acts on its verb, resource (by any name), page and RV. */
TEST(a_rule_acts_on_what_it_names)
{
	script(w, "when LIST po page 2 then 410\nwhen GET deployments.apps then 500\nwhen LIST rv none then "
		  "429");
	assert_int_equal(request(w, "LIST", w->pods, "0", 2), 410);
	assert_int_equal(request(w, "LIST", w->pods, "0", 1), 0);
	assert_int_equal(request(w, "GET", w->pods, NULL, 1), 0);
	assert_int_equal(request(w, "GET", w->deployments, NULL, 1), 500);
	assert_int_equal(request(w, "LIST", w->deployments, NULL, 1), 429);
	assert_int_equal(request(w, "DISCOVERY", NULL, NULL, 1), 0);
}

/* A rule acts always; with `once` once, with `times` so often, with `nth` from that request on. */
TEST(a_rule_acts_as_often_as_it_says)
{
	static const int expected[] = {401, 402, 402, 403, 404, 405, 405};

	script(w, "when GET then 401 once\nwhen GET then 402 times 2\nwhen GET nth 1 then 403 once\n"
		  "when GET nth 1 then 404\nwhen GET then 405");
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++)
		assert_int_equal(request(w, "GET", w->pods, NULL, 1), expected[i]);
}

/* `after 2 events` acts between the second and the third line, once a stream, however often it is asked. */
TEST(a_streams_rule_waits_for_its_event)
{
	struct sim_fault_seen first = {0}, second = {0};

	script(w, "when WATCH pods after 2 events then 410\nwhen WATCH pods after 100ms then close");
	assert_int_equal(request(w, "WATCH", w->pods, "5", 1), 0);
	assert_int_equal(stream(w, &first, 1, 0, true), 0);
	assert_int_equal(stream(w, &first, 2, 0, false), 410);
	assert_int_equal(stream(w, &first, 2, 0, true), 0);
	assert_int_equal(stream(w, &first, 3, 99, false), 0);
	assert_int_equal(stream(w, &first, 3, 101, false), -SIM_FAULT_CLOSE);
	assert_int_equal(stream(w, &second, 2, 0, true), 410);
}

/* A fault that cuts a line waits for a line. */
TEST(a_cut_waits_for_a_line)
{
	struct sim_fault_seen seen = {0};

	script(w, "when WATCH after 1 event then close mid-frame once");
	assert_int_equal(stream(w, &seen, 1, 0, false), 0);
	assert_int_equal(stream(w, &seen, 1, 0, true), -SIM_FAULT_MID_FRAME);
}

/* `idle` waits until everything is sent. So does a bookmark, whose RV is that of the last event sent. */
TEST(idle_waits_until_all_was_sent)
{
	struct sim_fault_seen seen = {0};

	script(w, "when WATCH idle then end once\nwhen WATCH after 1 event then bookmark");
	assert_int_equal(request(w, "WATCH", w->pods, "5", 1), 0);
	assert_int_equal(stream(w, &seen, 1, 0, true), 0);
	assert_int_equal(stream(w, &seen, 1, 0, false), -SIM_FAULT_END);
	assert_int_equal(stream(w, &seen, 1, 0, false), -SIM_FAULT_BOOKMARK);
}

/* A message reaches to the end of its line or to its count. It outlives its rule. */
TEST(a_message_is_not_split)
{
	static const struct {
		const char *rule, *text;
	} cases[] = {
		{"when LIST then say {\"a\":  [1, 2]}", "{\"a\":  [1, 2]}\n"},
		{"when LIST then say it once once", "it once\n"},
		{"when LIST then say  times 3 times 4", "times 3\n"},
		{"when LIST then say times 10", "times 10\n"},
	};
	struct sim_fault_moment moment = {.verb = "LIST", .resource = w->pods, .page = 1};
	struct sim_fault fault;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		script(w, cases[i].rule);
		assert_true(sim_faults_ask(w->faults, &moment, &fault));
		assert_int_equal(fault.kind, SIM_FAULT_SAY);
		sim_faults_clear(w->faults);
		assert_string_equal(fault.text, cases[i].text);
	}
}

/* An action alone is read as in a rule. An empty one is no fault, a bad one an error. */
TEST(an_action_alone_can_be_read)
{
	static const char *const bad[] = {"410 once", "explode", "say", "bookmark now"};
	struct sim_fault fault;
	char *error;

	assert_int_equal(sim_faults_action(w->faults, "429 retry-after 5", &fault, &error), 0);
	assert_int_equal(fault.kind, SIM_FAULT_STATUS);
	assert_int_equal(fault.retry_after, 5);
	assert_int_equal(sim_faults_action(w->faults, "say a b", &fault, &error), 0);
	assert_string_equal(fault.text, "a b\n");
	assert_int_equal(sim_faults_action(w->faults, " ", &fault, &error), 0);
	assert_int_equal(fault.kind, SIM_FAULT_NONE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(sim_faults_action(w->faults, bad[i], &fault, &error), -22);
		assert_non_null(error);
		free(error);
	}
}

/* A rule for WATCH also acts on a watch-list. A rule for WATCHLIST acts on nothing else. */
TEST(a_watch_list_is_a_watch)
{
	script(w, "when WATCHLIST then 422 once\nwhen WATCH then 500");
	assert_int_equal(request(w, "WATCH", w->pods, "5", 1), 500);
	assert_int_equal(request(w, "WATCHLIST", w->pods, NULL, 1), 422);
	assert_int_equal(request(w, "WATCHLIST", w->pods, NULL, 1), 500);
}

/* New rules start with fresh counts, also for a stream that met earlier rules. */
TEST(new_rules_have_fresh_counts)
{
	struct sim_fault_seen seen = {0};

	script(w, "when WATCH after 1 event then 410 once");
	assert_int_equal(stream(w, &seen, 1, 0, true), 410);
	sim_faults_clear(w->faults);
	script(w, "when WATCH after 1 event then 429 once");
	assert_int_equal(stream(w, &seen, 1, 0, true), 429);
}

static void
draw(struct world *w, const char *rule, char out[201])
{
	sim_faults_clear(w->faults);
	script(w, rule);
	for (int i = 0; i < 200; i++)
		out[i] = (char)('a' + request(w, "LIST", w->pods, NULL, 1) % 26);
	out[200] = '\0';
}

/* Equal seeds give equal faults, other seeds others, and the rate holds. */
TEST(chance_follows_its_seed)
{
	char one[201], two[201], other[201];
	unsigned hit = 0;

	draw(w, "random seed=7 rate=20% LIST pods 410 429 500", one);
	draw(w, "random seed=7 rate=20% LIST pods 410 429 500", two);
	draw(w, "random seed=8 rate=20% LIST pods 410 429 500", other);
	assert_string_equal(one, two);
	assert_string_not_equal(one, other);
	for (int i = 0; i < 200; i++)
		hit += one[i] != 'a';
	assert_in_range(hit, 20, 60);
}

/* A bad script adds no rule, and the message names the line. */
TEST(a_bad_script_adds_nothing)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"when LIST then 410\nwhen LIST pods then", "line 2: \"\" is no action"},
		{"when LIST pods page 0 then 410", "line 1: page wants a number from 1 here: \"0\""},
		{"when LIST then 200", "line 1: a status wants a number from 400 here: \"200\""},
		{"when LIST then 600", "line 1: 600 is no status of a failure: 400 to 599"},
		{"when LIST after 3 events then 410",
		 "line 1: after events, after a time and idle are for WATCH and WATCHLIST"},
		{"when LIST idle then 410",
		 "line 1: after events, after a time and idle are for WATCH and WATCHLIST"},
		{"when LIST then say", "line 1: say wants a text behind it"},
		{"when WATCH then bookmark",
		 "line 1: bookmark wants to know when: idle, after 2 events or after 200ms"},
		{"when LIST then plain", "line 1: bookmark and plain are for WATCH and WATCHLIST"},
		{"when WATCH idle then hold",
		 "line 1: hold, paginate and plain come with the request: without after and idle"},
		{"when WATCH then paginate 2", "line 1: paginate is for LIST"},
		{"when WATCH after 3 bytes then close",
		 "line 1: after bytes is for documents; a watch counts events"},
		{"when LIST after 3 bytes then 410",
		 "line 1: after bytes goes with close, truncate, invalid and freeze"},
		{"when LIST then end", "line 1: end is for WATCH and WATCHLIST"},
		{"when WATCH after 3 then close",
		 "line 1: say after 3 events, after 100 bytes or after 200ms"},
		{"when LIST then slow 3 bytes", "line 1: say slow 100ms, or slow 10 bytes every 50ms"},
		{"when GET page 2 then 410", "line 1: page is for LIST"},
		{"random close", "line 1: random wants rate=1% or so"},
		{"random rate=1%", "line 1: \"\" is no action"},
		{"when LOST then 410", "line 1: \"LOST\" is no verb: LIST, WATCH, WATCHLIST, GET, "},
		{"random rate=3 close", "line 1: rate= wants a percentage, as rate=1%"},
		{"when LIST then 410 once please", "line 1: nothing should follow here: \"please\""},
		{"whenever", "line 1: a rule begins with when or random: \"whenever\""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_(api_freep) char *error = NULL;

		assert_int_equal(sim_faults_add(w->faults, cases[i].text, &error), -22);
		if (strncmp(error, cases[i].why, strlen(cases[i].why)) != 0)
			fail_msg("\"%s\" is answered by: %s", cases[i].text, error);
		assert_false(sim_faults_any(w->faults));
	}
}

/* Comments and empty lines are ignored. Rules are listed as written, with how often they acted. */
TEST(rules_are_shown_with_their_count)
{
	_cleanup_(api_buf_done) struct api_buf text = {0};

	script(w, "# a comment\n\n  when LIST   then 410 # why\r\nrandom rate=0% close mid-frame freeze 2s");
	assert_int_equal(request(w, "LIST", w->pods, NULL, 1), 410);
	sim_faults_print(w->faults, &text);
	assert_string_equal(text.data,
			    "when LIST   then 410  # 1\nrandom rate=0% close mid-frame freeze 2s  # 0\n");
}

/* A continue token is known by its page. An unknown token counts as some later page. */
TEST(pages_are_known_by_their_tokens)
{
	sim_faults_note_page(w->faults, "abc", 3);
	assert_int_equal(sim_faults_page(w->faults, "abc"), 3);
	assert_int_equal(sim_faults_page(w->faults, "xyz"), 2);
}
