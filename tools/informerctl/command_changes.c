/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informerctl changes: prints every object, then each change, as lines of JSON (change.h), for scripts and
 * for programs in languages without a binding.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/change/change.h"
#include "tools/informerctl/cli.h"
#include "tools/informerctl/follow.h"
#include "tools/informerctl/missing_resource.h"

/*
 * told: a line was written. object, old: reusable memory for their JSON. left: lines still to write; 0: no
 * limit.
 */
struct changes {
	struct follow follow;
	const struct informer_handler_options *options;
	bool told;
	struct text out;
	struct text object, old;
	uint64_t left;
	int error;
};

/* Append one line. object NULL: a mark. */
static void
add(struct changes *changes, enum change_type type, bool initial, bool known,
    const struct informer_object *object, const struct informer_object *old)
{
	struct informer_cursor cursor = {.seq = 0};
	struct change change = {.type = type, .initial = initial, .final_unknown = !known};
	int r = 0;

	if (changes->follow.stop)
		return;
	changes->told = true;
	informer_handler_cursor(changes->follow.handler, &cursor);
	change.seq = change_seq(type, object, &cursor);
	changes->object.length = changes->old.length = 0;
	if (object)
		r = change_object(object, &changes->object);
	if (r == 0 && old)
		r = change_object(old, &changes->old);
	/* the arena was taken back during the call: the change is told again */
	if (r == INFORMER_E_EXPIRED)
		return;
	change.object = changes->object.data;
	change.object_length = changes->object.length;
	change.old = old ? changes->old.data : NULL;
	change.old_length = changes->old.length;
	if (r == 0)
		change_line(&change, &changes->out);
	else
		changes->error = r;
	if (r < 0 || (changes->left > 0 && --changes->left == 0))
		changes->follow.stop = true;
	follow_added(&changes->follow);
}

static void
on_add(void *context, const struct informer_object *object, bool is_initial)
{
	add(context, CHANGE_ADDED, is_initial, true, object, NULL);
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *object)
{
	add(context, CHANGE_MODIFIED, false, true, object, old);
}

static void
on_delete(void *context, const struct informer_object *object, bool final_state_known)
{
	add(context, CHANGE_DELETED, false, final_state_known, object, NULL);
}

static void
on_overflow(void *context, enum informer_overflow kind)
{
	(void)kind; /* RESYNC is for consumers */
	add(context, CHANGE_COALESCED, false, true, NULL, NULL);
}

static void
on_synced(void *context)
{
	const struct changes *changes = context;

	if (!changes->told)
		follow_say_empty(changes->options);
}

/* Fail if informerd is not there or does not cache the resource. Returns -1, or the exit code. */
static int
check_resource(struct informer *inf, const struct cli_args *args, const char *resource, bool all_namespaces,
	       int timeout_ms, const char **ns)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_resource *handle;
	struct informer_snapshot snap;
	int r = cli_begin(inf, args, &snap);

	if (r >= 0)
		return r;
	r = cli_resource(inf, resource, timeout_ms, &snap, &handle, &info);
	if (r == INFORMER_E_NOT_READY) {
		r = cli_fail_not_known(inf, resource);
	} else if (r == INFORMER_E_NO_RESOURCE || r == -EINVAL) {
		r = missing_resource_fail(&snap, resource);
	} else if (r < 0) {
		r = cli_fail_code(r, resource);
	} else {
		if (all_namespaces || !info.namespaced)
			*ns = NULL;
		if (!info.synced)
			cli_fail(
				"%s: the first list is not in yet, waiting for it; informerctl stat says why",
				resource);
		r = -1;
	}
	informer_end(&snap);
	return r;
}

static int
finish(struct changes *changes, bool timed_out, bool counted)
{
	int r = cli_finish(&changes->out);

	if (r == 0 && changes->error < 0)
		r = cli_fail_code(changes->error, "an object cannot be read");
	return r ? r : timed_out && counted ? EXIT_CONDITION : EXIT_SUCCESS;
}

/* The command line. */
struct request {
	struct cli_args args;
	const char *ns, *labels, *fields, *output, *count, *timeout;
	bool all;
};

static const struct flag flags[] = {
	{"namespace", 'n', "NS", "the namespace (default: default)", FLAG_TEXT(struct request, ns)},
	{"all-namespaces", 'A', NULL, "all namespaces", FLAG_ON(struct request, all)},
	{"selector", 'l', "SELECTOR", "a label selector: app=web,tier in (a,b),!canary",
	 FLAG_TEXT(struct request, labels)},
	{"field-selector", 0, "SELECTOR", "paths and values: spec.nodeName=n1,status.phase!=Running",
	 FLAG_TEXT(struct request, fields)},
	{"output", 'o', "FORMAT", "json, a line each", FLAG_TEXT(struct request, output)},
	{"count", 0, "N", "end after N lines", FLAG_TEXT(struct request, count)},
	{"timeout", 0, "TIME", "end after this time: 500ms, 30s, 2m (default: never)",
	 FLAG_TEXT(struct request, timeout)},
	CLI_START_FLAG(""),
	CLI_FLAGS,
};

static int
run(const struct cli_command *command, int argc, char **argv)
{
	struct changes changes = {.out = TEXT_INIT(1), .object = TEXT_INIT(-1), .old = TEXT_INIT(-1)};
	struct request request = {.ns = "default", .output = "json"};
	const struct cli_args *args = &request.args;
	bool timed_out = false;
	char *end = NULL;
	int r = cli_parse(command, argc, argv, &request.args);

	if (r >= 0)
		goto out;
	changes.follow.out = &changes.out;
	changes.follow.timeout_ms = -1;
	if (request.count)
		changes.left = strtoull(request.count, &end, 10);
	if (args->count != 1)
		r = cli_fail("changes of what? informerctl changes pods; one resource");
	else if (strchr(args->items[0], ','))
		r = cli_fail("'%s': changes of one resource; run one informerctl changes for each",
			     args->items[0]);
	else if (strchr(args->items[0], '/'))
		r = cli_fail("'%s': changes of a resource; of one object: --field-selector metadata.name=%s",
			     args->items[0], strchr(args->items[0], '/') + 1);
	else if (strcmp(request.output, "json") != 0)
		r = cli_fail("-o %s is not known; there is json", request.output);
	else if (request.count && (*end || changes.left == 0 || *request.count == '-'))
		r = cli_fail("--count %s: must be a number from 1 up", request.count);
	else if (request.timeout && !cli_duration(request.timeout, &changes.follow.timeout_ms))
		r = cli_fail("--timeout %s is no time; write 500ms, 30s, 2m or 1h30m", request.timeout);
	if (r >= 0)
		goto out;
	changes.follow.inf = cli_attach(args, 0);
	r = changes.follow.inf ? check_resource(changes.follow.inf, args, args->items[0], request.all,
						changes.follow.timeout_ms, &request.ns)
			       : EXIT_USAGE;
	if (r < 0) {
		const struct informer_handler_options options = {
			.size = sizeof(options),
			.resource = args->items[0],
			.namespace_ = request.ns,
			.label_selector = request.labels,
			.field_selector = request.fields,
			.context = &changes,
			.on_add = on_add,
			.on_update = on_update,
			.on_delete = on_delete,
			.on_overflow = on_overflow,
			.on_synced = on_synced,
		};

		changes.options = &options;
		r = follow_run(&changes.follow, &options, &timed_out);
	}
	if (r < 0)
		r = finish(&changes, timed_out, request.count != NULL);
	informer_detach(changes.follow.inf);
out:
	text_done(&changes.out);
	text_done(&changes.object);
	text_done(&changes.old);
	free(args->items);
	return r;
}

const struct cli_command command_changes = {
	.name = "changes",
	.summary = "what there is and each change, as lines of JSON",
	.usage = "informerctl changes RESOURCE [-n NS | -A] [-l SELECTOR] [--field-selector SELECTOR]",
	.details = "  "
		   "{\"seq\":7,\"type\":\"ADDED|MODIFIED|DELETED\",\"initial\":false,\"object\":{...},"
		   "\"old\":{...}}\n"
		   "  {\"seq\":9,\"type\":\"COALESCED\"}\n"
		   "\n"
		   "Objects that are there come first, as ADDED with \"initial\":true. COALESCED: changes "
		   "were missed; one line for\n"
		   "each object that changed follows, with its newest state. informerctl goes on by itself "
		   "when informerd is restarted.\n"
		   "Exit codes: 0 done, 1 timed out before --count lines, 2 usage or no daemon.",
	.flags = flags,
	.flag_count = sizeof(flags) / sizeof(*flags),
	.run = run,
};
