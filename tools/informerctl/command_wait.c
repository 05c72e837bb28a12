/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informerctl wait --for=synced: sleep until the first lists are in, also for a daemon that is not there yet.
 *
 * The library tells when what is in the arena is synced; the daemon's report tells of resources that are not
 * in the arena yet, because the API server has not explained them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "tools/informerctl/cli.h"
#include "tools/informerctl/kubectl_words.h"
#include "tools/printer/text.h"

#define SAY_MS 2000
#define ASK_MS 1000

struct waiting {
	struct informer *inf;
	const struct cli_args *args;
	int64_t end_ms;      /* INT64_MAX: for ever */
	int64_t next_say_ms; /* when to tell of progress next */
	const char *version; /* resourceVersion to get to; NULL: the first list is enough */
};

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static const char *
string_of(const cJSON *object, const char *name)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsString(node) ? node->valuestring : "";
}

static double
number_of(const cJSON *object, const char *name)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsNumber(node) ? node->valuedouble : 0;
}

/* The daemon's report, for cJSON_Delete(); NULL when it does not answer. */
static cJSON *
ask(struct informer *inf)
{
	cJSON *report;
	size_t length;
	char *text;

	if (informer_stat_json(inf, ASK_MS, &text, &length) < 0)
		return NULL;
	report = cJSON_ParseWithLength(text, length);
	informer_free(inf, text);
	return report;
}

/* "pods: listing, 1200 objects of about 5000 (connection refused)"; for one that is synced, nothing. */
static void
describe(const cJSON *resource, struct text *line)
{
	const cJSON *progress = cJSON_GetObjectItemCaseSensitive(resource, "progress");
	double items = number_of(progress, "items"), remaining = number_of(progress, "remaining");
	const char *error = string_of(resource, "last_error");

	if (strcmp(string_of(resource, "state"), "synced") == 0)
		return;
	text_addf(line, "%s%s: %s", line->length > 0 ? "; " : "", string_of(resource, "resource"),
		  string_of(resource, "state"));
	if (cJSON_IsObject(progress) && remaining >= 0)
		text_addf(line, ", %.0f of %.0f objects", items, items + remaining);
	else if (cJSON_IsObject(progress))
		text_addf(line, ", %.0f objects", items);
	if (*error)
		text_addf(line, " (%s)", error);
}

/* What the daemon calls it: "pods", "deployments.apps"; the name itself while that is not known. */
static void
canonical_name(struct informer *inf, const char *name, char *ret, size_t size)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_resource *handle;
	struct informer_snapshot snap;

	snprintf(ret, size, "%s", name);
	if (informer_resource_open(inf, name, &handle) < 0 || informer_begin(inf, &snap) < 0)
		return;
	if (informer_resource_info(&snap, handle, &info) == 0)
		snprintf(ret, size, "%.*s", (int)info.resource_length, info.resource);
	informer_end(&snap);
}

/* What is missing of a resource (NULL: all), for people. */
static void
describe_all(const struct waiting *w, const char *name, struct text *line)
{
	struct informer_status status = {.size = sizeof(status)};
	cJSON *report = ask(w->inf);
	const cJSON *resource;
	char wanted[256] = "";

	if (name)
		canonical_name(w->inf, name, wanted, sizeof(wanted));
	if (report) {
		resource = cJSON_GetObjectItemCaseSensitive(report, "resources");
		for (resource = resource ? resource->child : NULL; resource; resource = resource->next)
			if (!name || strcmp(string_of(resource, "resource"), wanted) == 0)
				describe(resource, line);
		if (*string_of(report, "trouble"))
			text_addf(line, "%s%s", line->length > 0 ? "; " : "", string_of(report, "trouble"));
	}
	informer_status(w->inf, &status);
	if (!report) {
		const char *reason = *status.reason ? status.reason : "informerd does not answer",
			   *socket = cli_socket(w->args);

		text_adds(line, reason);
		if (!strstr(reason, socket))
			text_addf(line, " (socket %s)", socket);
	}
	cJSON_Delete(report);
}

/*
 * All that informerd is configured to cache, also what it has not resolved yet. A daemon that does not tell
 * counts as yes.
 */
static bool
all_configured_synced(struct informer *inf)
{
	cJSON *report = ask(inf);
	bool synced = !report || cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(report, "synced"));

	cJSON_Delete(report);
	return synced;
}

/* informerd is there, and does not cache this. */
static bool
is_unknown(struct informer *inf, const char *resource)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_resource *handle;
	struct informer_snapshot snap;
	bool unknown;

	if (informer_resource_open(inf, resource, &handle) < 0 || informer_begin(inf, &snap) < 0)
		return false;
	unknown = informer_resource_info(&snap, handle, &info) == INFORMER_E_NO_RESOURCE;
	informer_end(&snap);
	return unknown;
}

static void
describe_missing(const struct waiting *w, const char *resource, struct text *line)
{
	if (resource && is_unknown(w->inf, resource))
		text_addf(line, "informerd does not cache '%s' (add it: informerd --resource %s ...)",
			  resource, resource);
	describe_all(w, resource, line);
	if (line->length == 0 && w->version)
		text_addf(line,
			  "it has not got to resourceVersion %s (a quiet resource gets on by bookmarks, once "
			  "a minute)",
			  w->version);
	else if (line->length == 0)
		text_adds(line, "the first list is not in");
}

static void
say_progress(struct waiting *w, const char *resource)
{
	struct text line = TEXT_INIT(-1);

	describe_missing(w, resource, &line);
	fprintf(stderr, "informerctl: waiting: %s\n", line.data ? line.data : "");
	text_done(&line);
	w->next_say_ms = now_ms() + SAY_MS;
}

static int
time_out(const struct waiting *w, const char *resource)
{
	struct text line = TEXT_INIT(-1);

	describe_missing(w, resource, &line);
	cli_fail("timed out waiting for %s: %s", resource ? resource : "all resources",
		 line.data ? line.data : "");
	text_done(&line);
	return EXIT_CONDITION;
}

static int
wait_once(const struct waiting *w, const char *resource, int ms)
{
	return w->version ? informer_wait_version(w->inf, resource, w->version, ms)
			  : informer_wait_synced(w->inf, resource, ms);
}

/* Until `resource` (NULL: all) is synced, or at the version. Returns -1, or the exit code. */
static int
wait_for(struct waiting *w, const char *resource)
{
	for (;;) {
		int64_t now = now_ms(), until = w->next_say_ms < w->end_ms ? w->next_say_ms : w->end_ms;
		int r = wait_once(w, resource, until > now ? (int)(until - now) : 0);

		if (r == 0 && (resource || all_configured_synced(w->inf)))
			return -1;
		if (r < 0 && r != -ETIMEDOUT)
			return cli_fail_code(w->inf, r, resource ? resource : "cannot wait");
		now = now_ms();
		if (now >= w->end_ms)
			return time_out(w, resource);
		if (r == 0) {
			/* Synced as far as the arena knows; the daemon is about to learn of more. */
			struct informer_moment seen;
			struct informer_snapshot snap;

			if (informer_begin(w->inf, &snap) == 0) {
				informer_snapshot_moment(&snap, &seen);
				informer_end(&snap);
				informer_wait_commit(w->inf, &seen,
						     w->end_ms - now < 200 ? (int)(w->end_ms - now) : 200);
			}
		}
		if (now_ms() >= w->next_say_ms)
			say_progress(w, resource);
	}
}

/* What the command line asks for. */
struct request {
	struct cli_args args;
	const char *condition, *timeout;
};

static const struct flag flags[] = {
	{"for", 0, "CONDITION",
	 "what to wait for: synced (each first list is in), or resourceVersion=N (what is shown is\n"
	 "as new as that, which the API server answered to a write; of one resource)",
	 FLAG_TEXT(struct request, condition)},
	{"timeout", 0, "TIME",
	 "how long at most: 500ms, 30s, 2m; 0 only looks, -1s waits for ever (default: 30s)",
	 FLAG_TEXT(struct request, timeout)},
	CLI_FLAGS,
};

static int
run(const struct cli_command *command, int argc, char **argv)
{
	struct request request = {.timeout = "30s"};
	const struct cli_args *args = &request.args;
	struct waiting w = {0};
	int r = cli_parse(command, argc, argv, &request.args), ms;

	if (r >= 0)
		goto out;
	r = EXIT_USAGE;
	if (!request.condition) {
		cli_fail("what to wait for? informerctl wait --for=synced%s%s", args->count ? " " : "",
			 args->count ? args->items[0] : "");
		goto out;
	}
	if (strncmp(request.condition, "resourceVersion=", 16) == 0) {
		w.version = request.condition + 16;
		if (args->count != 1 || !*w.version || *w.version == '0' ||
		    w.version[strspn(w.version, "0123456789")]) {
			cli_fail("--for=%s: a number above 0, and one resource: informerctl wait "
				 "--for=resourceVersion=4711 pods",
				 request.condition);
			goto out;
		}
	} else if (strcmp(request.condition, "synced") != 0) {
		cli_fail("--for=%s is not known; there are --for=synced and --for=resourceVersion=N%s%s",
			 request.condition, kubectl_word_condition(request.condition) ? "; " : "",
			 kubectl_word_condition(request.condition) ? kubectl_word_condition(request.condition)
								   : "");
		goto out;
	}
	if (!cli_duration(request.timeout, &ms)) {
		cli_fail("--timeout %s is no time; write 500ms, 30s, 2m or 1h30m", request.timeout);
		goto out;
	}
	w.inf = cli_attach(args, 0);
	w.args = args;
	if (!w.inf)
		goto out;
	w.next_say_ms = now_ms() + SAY_MS;
	w.end_ms = ms < 0 ? INT64_MAX : now_ms() + ms;
	r = args->count == 0 ? wait_for(&w, NULL) : -1;
	for (size_t i = 0; i < args->count && r < 0; i++)
		r = wait_for(&w, args->items[i]);
	r = r < 0 ? EXIT_SUCCESS : r;
out:
	informer_detach(w.inf);
	free(args->items);
	return r;
}

const struct cli_command command_wait = {
	.name = "wait",
	.summary = "wait until resources are synced, or as new as a write",
	.usage = "informerctl wait --for=synced [RESOURCE...] [--timeout=30s]\n"
		 "       informerctl wait --for=resourceVersion=N RESOURCE [--timeout=30s]",
	.details = "Without a RESOURCE, all that informerd is configured to cache. Waits for an informerd "
		   "that is not there yet, too.\n"
		   "Exit codes: 0 it is so, 1 timed out (stderr says what is missing), 2 usage.",
	.flags = flags,
	.flag_count = sizeof(flags) / sizeof(*flags),
	.run = run,
};
