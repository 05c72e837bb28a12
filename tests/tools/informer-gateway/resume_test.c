/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of resumed watches. Pods come, change and go upstream. informerd watches that, or lists it later.
 * Clients with selectors watch through a gateway. The gateway is killed amid their events, and they resume at
 * the next one. In the end each client knows exactly the pods that it selects.
 */
#include <inttypes.h>

#include "tests/tools/informer-gateway/arena_world.h"
#include "tools/serving/api_watch.h"

#define PODS 6
#define ROUNDS 30
#define WORLDS 5
#define WORLDS_LONG 1000
#define EACH 4 /* clients of each selection */

/* Upstream's state. A deleted pod keeps its last state. */
struct pod {
	bool there;
	unsigned object;
	uint64_t rv;
	char name, app, node;
};

/* ---- what clients select ---------------------------------------------------- */

/* apps: the values of app that are selected. node, name: 0: any. */
static const struct selection {
	const char *labels, *fields, *apps;
	char node, name;
} selections[] = {
	{"", "", "xyz", 0, 0},
	{"app=x", "", "x", 0, 0},
	{"app notin (x,y)", "", "z", 0, 0},
	{"", "spec.nodeName=n1", "xyz", '1', 0},
	{"", "metadata.name=a", "xyz", 0, 'a'},
	{"app in (x,z)", "spec.nodeName=n2", "xz", '2', 0},
};
#define CLIENTS (sizeof(selections) / sizeof(*selections) * EACH)

static bool
selects(const struct selection *s, const struct pod *pod)
{
	return pod->there && strchr(s->apps, pod->app) && (!s->node || pod->node == s->node) &&
	       (!s->name || pod->name == s->name);
}

struct client {
	const struct selection *selection;
	struct gw_store *store;
	struct api_watch *watch; /* NULL: none now */
	uint64_t rv;             /* to resume from; 0: list */
	uint64_t known[PODS];    /* the RV of each pod; 0: absent */
};

struct model {
	struct arena_world *w;
	uint64_t dice, rv, now_ms;
	unsigned objects;
	struct pod pods[PODS], seen[PODS]; /* upstream's; informerd's */
	struct client clients[CLIENTS];
	unsigned went_on, expired;
};

static unsigned
roll(struct model *m, unsigned sides)
{
	m->dice = m->dice * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(m->dice >> 33) % sides;
}

/* ---- upstream and informerd -------------------------------------------------- */

static struct pod *
change_one(struct model *m)
{
	struct pod *pod = &m->pods[roll(m, PODS)];

	pod->rv = m->rv += 1 + roll(m, 3);
	if (pod->there && roll(m, 3) == 0) {
		pod->there = false;
		return pod;
	}
	if (!pod->there) {
		pod->there = true;
		pod->object = ++m->objects;
		pod->node = (char)('1' + roll(m, 2));
	}
	pod->app = (char)('x' + roll(m, 3));
	return pod;
}

static void
add_word(char *text, const struct pod *pod)
{
	size_t length = strlen(text);

	snprintf(text + length, ARENA_WORLD_TEXT - length, "%s%c%" PRIu64 ":n%c=%c#%u ",
		 pod->there ? "" : "-", pod->name, pod->rv, pod->node, pod->app, pod->object);
}

/* Say this. After "@RV" an open gateway follows. */
static void
say(struct model *m, const char *text)
{
	arena_world_say(m->w, text);
	if (m->w->arena && strstr(text, "@?"))
		arena_world_pump(m->w);
	else if (m->w->arena)
		arena_world_reach(m->w, m->rv);
}

static void
happen_as_seen(struct model *m)
{
	char text[ARENA_WORLD_TEXT] = "", end[32];

	for (unsigned i = 1 + roll(m, 3); i > 0; i--) {
		const struct pod *pod = change_one(m);

		add_word(text, pod);
		m->seen[pod->name - 'a'] = *pod;
	}
	snprintf(end, sizeof(end), "@%" PRIu64, m->rv);
	say(m, strcat(text, end));
}

/* Apply a list: first the deletions, then what is there, in one commit or in two. */
static void
happen_unseen(struct model *m)
{
	char gone[ARENA_WORLD_TEXT] = "@? ", there[ARENA_WORLD_TEXT] = "", end[32];

	for (unsigned i = 1 + roll(m, 8); i > 0; i--)
		(void)change_one(m);
	for (unsigned i = 0; i < PODS; i++) {
		const struct pod *now = &m->pods[i], *before = &m->seen[i];

		if (before->there && (!now->there || before->object != now->object))
			snprintf(gone + strlen(gone), 32, "-%c? ", now->name);
		if (now->there && (!before->there || now->rv != before->rv))
			add_word(there, now);
		m->seen[i] = *now;
	}
	snprintf(end, sizeof(end), "@%" PRIu64, m->rv);
	strcat(there, end);
	if (roll(m, 2)) {
		say(m, gone);
		say(m, there);
	} else {
		say(m, strcat(gone, there) + strlen("@? "));
	}
}

static void
happen(struct model *m)
{
	if (roll(m, 3))
		happen_as_seen(m);
	else
		happen_unseen(m);
}

/* ---- clients ------------------------------------------------------------------ */

static void
hang_up(struct client *c)
{
	if (!c->watch)
		return;
	api_watch_free(c->watch);
	c->store->close(c->store);
	c->watch = NULL;
}

static void
open_watch(struct model *m, struct client *c)
{
	const struct api_watch_options options = {
		.bookmark_ms = 60000, .timeout_ms = UINT32_MAX, .tell_lost = true};
	const struct api_resource *pods = m->w->pods->resource;
	struct api_request request = {
		.method = "GET", .url = "/api/v1/pods", .resource = pods, .shape = {.version = "v1"}};
	struct api_query query = {.rv = c->rv, .rv_given = c->rv > 0, .initial = !c->rv, .bookmarks = true};
	char *error;

	assert_int_equal(api_labels_parse(c->selection->labels, &query.labels, &error), 0);
	assert_int_equal(api_fields_parse(pods, c->selection->fields, &query.fields, &error), 0);
	if (!c->rv)
		memset(c->known, 0, sizeof(c->known));
	m->went_on += c->rv > 0;
	c->store = gw_store_new(m->w->pods);
	assert_int_equal(api_watch_open(&request, &query, &c->store->api, &options, m->now_ms, &c->watch), 0);
}

/* The text after a name in a line, up to a quote. */
static const char *
behind(const char *line, const char *name)
{
	const char *at = strstr(line, name);

	assert_non_null(at);
	return at + strlen(name);
}

/* Returns true if the client's list is complete: from then on it may be cut off. */
static bool
hear(struct model *m, struct client *c, const char *line)
{
	const char *type = behind(line, "\"type\":\"");
	uint64_t rv;

	if (!strncmp(type, "ERROR", 5)) {
		assert_non_null(strstr(line, "\"code\":410"));
		m->expired++;
		c->rv = 0;
		hang_up(c);
		return false;
	}
	rv = strtoull(behind(line, "\"resourceVersion\":\""), NULL, 10);
	if (strncmp(type, "BOOKMARK", 8) != 0) {
		char name = *behind(line, "\"name\":\"");

		c->known[name - 'a'] = strncmp(type, "DELETED", 7) != 0 ? rv : 0;
	}
	if (!c->rv && !strstr(line, "initial-events-end"))
		return false;
	assert_true(rv >= c->rv);
	c->rv = rv;
	return true;
}

/* Hear so many lines. Initial events are heard as a whole. */
static void
read_lines(struct model *m, struct client *c, unsigned lines)
{
	struct api_frame *frame;
	char *line;

	for (unsigned n = 0; n < lines;) {
		if (!c->watch)
			open_watch(m, c);
		if (api_watch_next(c->watch, m->now_ms, &frame) != API_WATCH_LINE)
			return;
		line = strndup(frame->bytes, frame->len);
		api_frame_unref(frame);
		n += hear(m, c, line);
		free(line);
	}
}

static void
expect_what_there_is(struct model *m, struct client *c)
{
	for (unsigned i = 0; i < PODS; i++) {
		uint64_t there = selects(c->selection, &m->pods[i]) ? m->pods[i].rv : 0;

		if (c->known[i] != there)
			fail_msg("a client of [%s %s] has %c at %" PRIu64 ", and it is at %" PRIu64
				 " (seed %" PRIu64 ")",
				 c->selection->labels, c->selection->fields, m->pods[i].name, c->known[i],
				 there, test_seed(7));
	}
}

/* ---- the whole ----------------------------------------------------------------- */

/* Clients hear some events. Then each is cut off and resumes at the same gateway or at another. */
static void
play_round(struct model *m)
{
	for (unsigned i = roll(m, 4); i > 0; i--)
		happen(m);
	m->now_ms += UINT64_C(60000) * roll(m, 2);
	for (unsigned i = 0; i < CLIENTS; i++) {
		read_lines(m, &m->clients[i], roll(m, 6));
		hang_up(&m->clients[i]);
	}
	if (roll(m, 3)) {
		arena_world_close(m->w);
		for (unsigned i = roll(m, 3); i > 0; i--)
			happen(m);
		arena_world_open(m->w);
	}
	for (unsigned i = roll(m, 2); i > 0; i--)
		happen(m);
	for (unsigned i = 0; i < CLIENTS; i++) {
		read_lines(m, &m->clients[i], UINT32_MAX);
		expect_what_there_is(m, &m->clients[i]);
	}
}

static void
play(struct model *m)
{
	m->w = arena_world_new("@100", false);
	m->rv = 100;
	for (unsigned i = 0; i < PODS; i++)
		m->pods[i] = m->seen[i] = (struct pod){.name = (char)('a' + i)};
	for (unsigned i = 0; i < CLIENTS; i++)
		m->clients[i] = (struct client){.selection = &selections[i / EACH]};
	arena_world_open(m->w);
	for (unsigned i = 0; i < ROUNDS; i++)
		play_round(m);
	for (unsigned i = 0; i < CLIENTS; i++)
		hang_up(&m->clients[i]);
	arena_world_free(m->w);
}

/* No event is lost over relists and restarts, at whatever point a client is cut off. */
TEST_CASE(each_client_ends_with_the_selected_pods)
{
	static struct model m;
	uint64_t seed = test_seed(7);

	m.now_ms = 1000000;
	for (unsigned i = 0; i < (test_is_long() ? WORLDS_LONG : WORLDS); i++) {
		m.dice = seed + i;
		play(&m);
	}
	/* most clients resume: a gateway that always said 410 would pass otherwise */
	assert_true(m.expired < m.went_on / 2);
}
