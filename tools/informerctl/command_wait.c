/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informerctl wait: sleeps until the first lists have arrived, also if the daemon does not run yet. With
 * --for it then waits for objects (wait_objects.h).
 *
 * The library reports which resources of the arena are synced. The daemon's report lists resources that are
 * not in the arena, because the API server has not described them yet.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "tools/informerctl/cli.h"
#include "tools/informerctl/missing_resource.h"
#include "tools/informerctl/wait_objects.h"
#include "tools/printer/text.h"

#define SAY_MS 2000
#define ASK_MS 1000

struct waiting {
	struct informer *inf;
	const struct cli_args *args;
	int64_t end_ms;      /* INT64_MAX: no limit */
	int64_t next_say_ms; /* when to print progress next */
	const char *version; /* resourceVersion to reach; NULL: the first list is enough */
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

/* The daemon's report, for cJSON_Delete(); NULL: no answer. */
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

/* "pods: listing, 1200 of 5000 objects (connection refused)"; nothing for a synced resource. */
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

/* The daemon's name of a resource, without its group: "deployments". Unknown: the name as given. */
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

/* Describe what a resource (NULL: all) still waits for. */
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
			   *socket = cli_socket(w->inf);

		text_adds(line, reason);
		if (!strstr(reason, socket))
			text_addf(line, " (socket %s)", socket);
	}
	cJSON_Delete(report);
}

/*
 * Whether all configured resources are synced, including those that informerd has not resolved yet. Without
 * an answer: true.
 */
static bool
all_configured_synced(struct informer *inf)
{
	cJSON *report = ask(inf);
	bool synced = !report || cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(report, "synced"));

	cJSON_Delete(report);
	return synced;
}

/* Whether informerd has published, and does not cache the resource. */
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
	char remedy[512];

	if (resource && is_unknown(w->inf, resource)) {
		missing_resource_remedy(resource, remedy, sizeof(remedy));
		text_addf(line, "informerd does not cache '%s' (add it: %s)", resource, remedy);
	}
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

/* Wait until `resource` (NULL: all) is synced or at the version. Returns -1, or the exit code. */
static int
wait_for(struct waiting *w, const char *resource)
{
	if (resource && is_unknown(w->inf, resource))
		say_progress(w, resource);
	for (;;) {
		int64_t now = now_ms(), until = w->next_say_ms < w->end_ms ? w->next_say_ms : w->end_ms;
		int r = wait_once(w, resource, until > now ? (int)(until - now) : 0);

		if (r == 0 && (resource || all_configured_synced(w->inf)))
			return -1;
		if (r < 0 && r != -ETIMEDOUT && r != INFORMER_E_NO_RESOURCE)
			return cli_fail_code(r, resource ? resource : "cannot wait");
		now = now_ms();
		if (now >= w->end_ms)
			return time_out(w, resource);
		if (r != -ETIMEDOUT) {
			/*
			 * The arena's resources are synced, but informerd still resolves others; or informerd
			 * does not cache the resource, and may when it reads its configuration again.
			 */
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

/* The command line. */
struct request {
	struct cli_args args;
	struct get get;
	const char *condition, *timeout;
	bool all;
};

static const struct flag flags[] = {
	{"for", 0, "CONDITION",
	 "what to wait for: synced (each first list is in), or resourceVersion=N (what is shown is\n"
	 "as new as that, which the API server answered to a write; of one resource); of objects\n"
	 "condition=TYPE[=STATUS] (STATUS: True), jsonpath=PATH[=VALUE], create or delete",
	 FLAG_TEXT(struct request, condition)},
	{"timeout", 0, "TIME",
	 "how long at most: 500ms, 30s, 2m; 0 only looks, -1s waits for ever (default: 30s)",
	 FLAG_TEXT(struct request, timeout)},
	{"namespace", 'n', "NS", "the objects' namespace (default: default)",
	 FLAG_TEXT(struct request, get.namespace_)},
	{"all-namespaces", 'A', NULL, "in all namespaces", FLAG_ON(struct request, get.all_namespaces)},
	{"selector", 'l', "SELECTOR", "the objects that a label selector matches: app=web,tier in (a,b)",
	 FLAG_TEXT(struct request, get.selector_text)},
	{"field-selector", 0, "SELECTOR", "those with these paths and values: spec.nodeName=n1",
	 FLAG_TEXT(struct request, get.field_text)},
	{"all", 0, NULL, "all objects", FLAG_ON(struct request, all)},
	CLI_FLAGS,
};

/* Check --for=synced and --for=resourceVersion=N. Returns -1, or the exit code. */
static int
check_resources(const struct request *request, struct waiting *w)
{
	const struct cli_args *args = &request->args;

	if (request->get.namespace_ || request->get.all_namespaces || request->get.selector_text ||
	    request->get.field_text || request->all)
		return cli_fail(
			"--for=%s is of whole resources: leave out -n, -A, -l, --field-selector and --all",
			request->condition);
	if (strncmp(request->condition, "resourceVersion=", 16) != 0)
		return -1;
	w->version = request->condition + 16;
	if (args->count != 1 || !*w->version || *w->version == '0' ||
	    w->version[strspn(w->version, "0123456789")])
		return cli_fail("--for=%s: a number above 0, and one resource: informerctl wait "
				"--for=resourceVersion=4711 pods",
				request->condition);
	return -1;
}

/* Parse and check the objects. Returns -1, or the exit code. */
static int
check_objects(struct request *request)
{
	struct get *get = &request->get;
	bool narrowed = get->selector_text || get->field_text || request->all;
	int r;

	if (request->args.count == 0)
		return cli_fail("what to wait for? informerctl wait --for=%s pod/web-0", request->condition);
	r = get_parse_targets(get, &request->args);
	for (size_t i = 0; i < get->target_count && r < 0; i++) {
		const struct get_target *target = &get->targets[i];

		if (strcmp(target->resource_name, GET_ALL) == 0)
			r = cli_fail("'all' is no resource to wait for: name one, as in pods");
		else if (target->name && (narrowed || get->all_namespaces))
			r = cli_fail(
				"-A, -l, --field-selector and --all do not go with a name: leave them out");
		else if (!target->name && !narrowed)
			r = cli_fail("which %s? name them, or select them by -l, --field-selector or --all",
				     target->resource_name);
	}
	get->namespace_ = get->namespace_ ? get->namespace_ : "default";
	return r;
}

/* Wait for whole resources. Returns the exit code. */
static int
wait_resources(struct waiting *w)
{
	int r = w->args->count == 0 ? wait_for(w, NULL) : -1;

	for (size_t i = 0; i < w->args->count && r < 0; i++)
		r = wait_for(w, w->args->items[i]);
	return r < 0 ? EXIT_SUCCESS : r;
}

/* Wait for objects: first until their resources are synced. Returns the exit code. */
static int
wait_for_objects(struct waiting *w, struct get *get, const struct wait_condition *condition, int timeout_ms)
{
	int r = -1;

	for (size_t i = 0; i < get->target_count && r < 0; i++)
		r = wait_for(w, get->targets[i].resource_name);
	return r < 0 ? wait_objects(get, condition,
				    w->end_ms == INT64_MAX ? UINT64_MAX : (uint64_t)w->end_ms * 1000000u,
				    timeout_ms)
		     : r;
}

static int
run(const struct cli_command *command, int argc, char **argv)
{
	struct request request = {.timeout = "30s"};
	struct wait_condition condition = {0};
	struct waiting w = {.args = &request.args};
	bool of_objects = false;
	const char *why = "";
	int r = cli_parse(command, argc, argv, &request.args), ms = 0;

	if (r >= 0)
		goto out;
	request.get.args = &request.args;
	r = EXIT_USAGE;
	if (!request.condition) {
		cli_fail("what to wait for? informerctl wait --for=synced%s%s", request.args.count ? " " : "",
			 request.args.count ? request.args.items[0] : "");
		goto out;
	}
	if (!cli_duration(request.timeout, &ms)) {
		cli_fail("--timeout %s is no time; write 500ms, 30s, 2m or 1h30m", request.timeout);
		goto out;
	}
	of_objects = wait_condition_parse(request.condition, &condition, &why) == 0;
	if (of_objects)
		r = check_objects(&request);
	else if (strcmp(request.condition, "synced") == 0 ||
		 strncmp(request.condition, "resourceVersion=", 16) == 0)
		r = check_resources(&request, &w);
	else if (*why)
		cli_fail("--for=%s: %s", request.condition, why);
	else
		cli_fail("--for=%s is not known; there are synced, resourceVersion=N, and of objects "
			 "condition=TYPE[=STATUS], jsonpath=PATH[=VALUE], create and delete",
			 request.condition);
	if (r >= 0)
		goto out;
	r = EXIT_USAGE;
	w.inf = request.get.inf = cli_attach(&request.args, 0);
	if (!w.inf)
		goto out;
	w.next_say_ms = now_ms() + SAY_MS;
	w.end_ms = ms < 0 ? INT64_MAX : now_ms() + ms;
	r = of_objects ? wait_for_objects(&w, &request.get, &condition, ms) : wait_resources(&w);
out:
	get_done(&request.get);
	wait_condition_done(&condition);
	free(request.args.items);
	return r;
}

const struct cli_command command_wait = {
	.name = "wait",
	.summary = "wait until resources are synced, or objects meet a condition",
	.usage = "informerctl wait --for=synced [RESOURCE...] [--timeout=30s]\n"
		 "       informerctl wait --for=resourceVersion=N RESOURCE [--timeout=30s]\n"
		 "       informerctl wait --for=condition=Ready RESOURCE NAME... | RESOURCE/NAME... [flags]\n"
		 "       informerctl wait --for=delete RESOURCE -l SELECTOR [flags]",
	.details = "Without a RESOURCE, all that informerd is configured to cache. Waits for an informerd "
		   "that is not there yet, too.\n"
		   "Exit codes: 0 the condition is met, 1 timed out or not there (stderr says what is "
		   "missing), 2 usage.",
	.flags = flags,
	.flag_count = sizeof(flags) / sizeof(*flags),
	.run = run,
};
