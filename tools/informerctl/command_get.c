/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informerctl get: prints objects as kubectl does, from shared memory.
 *
 * One run uses one snapshot, which ends when the output is complete in memory (text.h).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informerctl/cli.h"
#include "tools/informerctl/get.h"
#include "tools/informerctl/kubectl_words.h"

static const char *const outputs[] = {"json", "yaml", "name", "wide", "table"};

/* The output by its name, as "json"; GET_OUTPUT_COUNT: unknown. */
static enum get_output
parse_output(const char *name)
{
	enum get_output output = GET_JSON;

	while (output < GET_OUTPUT_COUNT && strcmp(outputs[output], name) != 0)
		output++;
	return output;
}

/* Translate an index to a key of informer_find(), which finds deleted objects. False: it has none. */
static bool
find_by_index(const char *index, enum informer_by *ret_by)
{
	static const struct {
		const char *index;
		enum informer_by by;
	} ways[] = {{"uid", INFORMER_BY_UID},
		    {"podIP", INFORMER_BY_IP},
		    {"containerID", INFORMER_BY_CONTAINER_ID}};

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		if (strcmp(ways[i].index, index) == 0) {
			*ret_by = ways[i].by;
			return true;
		}
	}
	return false;
}

/* Check the flags and targets together. Returns -1, or the exit code. */
static int
check(struct get *get, const char *output, const char *index, const char *workload)
{
	if (get->output == GET_OUTPUT_COUNT)
		return cli_fail("-o %s is not known; there are json, yaml, name, wide and table%s%s", output,
				kubectl_word_output(output) ? "; " : "",
				kubectl_word_output(output) ? kubectl_word_output(output) : "");
	if (workload && !workload_name_parse(workload, &get->workload))
		return cli_fail("--workload %s: write --workload KIND/NAME, as in --workload deploy/web",
				workload);
	for (size_t i = 0; i < get->target_count; i++) {
		if (strcmp(get->targets[i].resource_name, GET_ALL) == 0 &&
		    (get->target_count > 1 || get->targets[i].name || get->watch))
			return cli_fail("'all' stands alone, without names%s",
					get->watch ? "; --watch follows one resource" : "");
		if (!get->targets[i].name)
			continue;
		if (get->all_namespaces)
			return cli_fail("a name stands in one namespace: name it with -n instead of -A");
		if (get->selector_text || get->field_text || index || workload)
			return cli_fail("%s does not go with a name: leave it out",
					get->selector_text ? "-l"
					: index            ? "--index"
					: workload         ? "--workload"
							   : "--field-selector");
		if (strchr(get->targets[i].name, '/'))
			return cli_fail(
				"'%s': a name has no '/'; write RESOURCE/NAME without a resource before it",
				get->targets[i].name);
	}
	if (!get->watch && (get->watch_events || get->timeout))
		return cli_fail("%s goes with --watch",
				get->watch_events ? "--output-watch-events" : "--timeout");
	if (get->watch && get->sort_by)
		return cli_fail("--sort-by does not go with --watch: changes come in their own order");
	if (index) {
		const char *equals = strchr(index, '=');

		if (!equals || equals == index)
			return cli_fail("--index %s: write --index NAME=VALUE, as in --index nodeName=node-1",
					index);
		get->index_name = strndup(index, (size_t)(equals - index));
		get->index_value = equals + 1;
		if (!get->index_name)
			return cli_fail("no memory");
		if (get->deleted && !find_by_index(get->index_name, &get->find_by))
			return cli_fail("--deleted --index %s: what was deleted is found by uid, podIP, "
					"containerID, or by name",
					get->index_name);
	}
	return -1;
}

/* The command line. */
struct request {
	struct cli_args args;
	struct get get;
	const char *output, *index, *workload;
};

static const struct flag flags[] = {
	{"namespace", 'n', "NS", "the namespace (default: default)",
	 FLAG_TEXT(struct request, get.namespace_)},
	{"all-namespaces", 'A', NULL, "all namespaces", FLAG_ON(struct request, get.all_namespaces)},
	{"selector", 'l', "SELECTOR", "a label selector: app=web,tier in (a,b),!canary",
	 FLAG_TEXT(struct request, get.selector_text)},
	{"index", 0, "NAME=VALUE", "those that an index of informerd has under this value: nodeName=node-1",
	 FLAG_TEXT(struct request, index)},
	{"workload", 0, "KIND/NAME", "those that this workload controls, also through others: deploy/web",
	 FLAG_TEXT(struct request, workload)},
	{"deleted", 0, NULL,
	 "what was deleted a short while ago: all of it, or found by name or --index uid, podIP, "
	 "containerID",
	 FLAG_ON(struct request, get.deleted)},
	{"output", 'o', "FORMAT", "table (default), wide, name, json or yaml",
	 FLAG_TEXT(struct request, output)},
	{"no-headers", 0, NULL, "a table without its first line", FLAG_ON(struct request, get.no_headers)},
	{"show-labels", 0, NULL, "all labels as the last column", FLAG_ON(struct request, get.show_labels)},
	{"label-columns", 'L', "KEY[,KEY]", "a column for each of these labels; may be repeated",
	 FLAG_TEXTS(struct request, get.label_columns)},
	{"show-kind", 0, NULL, "kinds before names, as with several resources",
	 FLAG_ON(struct request, get.show_kind)},
	{"ignore-not-found", 0, NULL, "be silent, with exit code 0, when there is no such object",
	 FLAG_ON(struct request, get.ignore_not_found)},
	{"watch", 'w', NULL, "then each change as it comes: a row, document or name each",
	 FLAG_ON(struct request, get.watch)},
	{"watch-only", 0, NULL, "the changes alone", FLAG_ON(struct request, get.watch_only)},
	{"output-watch-events", 0, NULL,
	 "with --watch: say of each whether it was ADDED, MODIFIED or DELETED",
	 FLAG_ON(struct request, get.watch_events)},
	{"field-selector", 0, "SELECTOR", "paths and values, as in spec.nodeName=n1,status.phase!=Running",
	 FLAG_TEXT(struct request, get.field_text)},
	{"sort-by", 0, "PATH", "by this field, as in .metadata.creationTimestamp; what has none comes first",
	 FLAG_TEXT(struct request, get.sort_by)},
	{"timeout", 0, "TIME", "with --watch: end after this time: 500ms, 30s, 2m (default: never)",
	 FLAG_TEXT(struct request, get.timeout)},
	CLI_START_FLAG(", and for first lists"),
	CLI_FLAGS,
};

static int
run(const struct cli_command *command, int argc, char **argv)
{
	struct request request = {.get = {.namespace_ = "default"}, .output = "table"};
	struct get *get = &request.get;
	int r = cli_parse(command, argc, argv, &request.args);

	get->args = &request.args;
	if (r < 0)
		r = get->args->count > 0
			    ? get_parse_targets(get, get->args)
			    : cli_fail("get what? informerctl get pods; informerctl stat lists what "
				       "is cached");
	if (r < 0) {
		get->output = parse_output(request.output);
		get->watch |= get->watch_only;
		r = check(get, request.output, request.index, request.workload);
	}
	if (r < 0)
		r = get->watch ? get_watch(get) : get_run(get);
	get_done(get);
	free(request.args.items);
	return r;
}

const struct cli_command command_get = {
	.name = "get",
	.summary = "show objects as kubectl does",
	.usage = "informerctl get RESOURCE[,RESOURCE...] [NAME...] [flags]\n"
		 "       informerctl get RESOURCE/NAME... [flags]",
	.details = "RESOURCE as kubectl takes it: pods, po, pod, deployments.apps; informerctl stat lists "
		   "what is cached; all: those that are\n"
		   "cached of pods, services, deployments and the like.\n"
		   "Exit codes: 0 done (also when nothing matches), 1 a named object does not exist, 2 usage "
		   "or no daemon.",
	.flags = flags,
	.flag_count = sizeof(flags) / sizeof(*flags),
	.run = run,
};
