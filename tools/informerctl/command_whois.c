/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informerctl whois: what the kernel or the network names, up to its workload.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/informerctl/aligned_table.h"
#include "tools/informerctl/cli.h"
#include "tools/informerctl/whois_question.h"
#include "tools/printer/age.h"

enum output { NARROW, WIDE, JSON };

/*
 * A question's answer. container.pod is of `kind`: a Service or a Node only for an address. container.name is
 * empty where no container is known.
 */
struct answer {
	const char *word;
	enum informer_address_kind kind;
	uint64_t host_pods;
	struct informer_container container;
	struct informer_workload workload;
};

static const char *const states[] = {
	[INFORMER_CONTAINER_NO_STATE] = "",
	[INFORMER_CONTAINER_WAITING] = "waiting",
	[INFORMER_CONTAINER_RUNNING] = "running",
	[INFORMER_CONTAINER_TERMINATED] = "terminated",
};
static const char *const kinds[] = {
	[INFORMER_CONTAINER_UNKNOWN] = "",
	[INFORMER_CONTAINER_REGULAR] = "regular",
	[INFORMER_CONTAINER_INIT] = "init",
	[INFORMER_CONTAINER_EPHEMERAL] = "ephemeral",
};

/* ---- asking ---- */

static int
ask_address(const struct informer_snapshot *snap, struct answer *a)
{
	struct informer_address address = {.size = sizeof(address)};
	int r = informer_by_address(snap, a->word, strlen(a->word), &address);

	a->kind = address.kind;
	a->host_pods = address.host_pods;
	a->container.pod = address.object;
	a->container.deleted = address.deleted;
	return r;
}

static int
ask(const struct informer_snapshot *snap, struct informer_resource *pods, struct answer *a)
{
	struct informer_container *c = &a->container;
	const char *word = a->word;
	size_t length = strlen(word);
	int r;

	switch (whois_question_of(word)) {
	case WHOIS_PID:
		return informer_container_of_pid(snap, pods, (pid_t)strtol(word, NULL, 10), 0, c);
	case WHOIS_CGROUP:
		return informer_container_of_cgroup(snap, pods, word, length, c);
	case WHOIS_CONTAINER:
		return informer_container_of_id(snap, pods, word, length, c);
	case WHOIS_IP:
		return ask_address(snap, a);
	case WHOIS_UID:
		r = informer_find(snap, pods, INFORMER_BY_UID, word, length, &c->pod, &c->deleted);
		/* the digits of a static Pod's UID may also begin a container's ID */
		return r == INFORMER_E_NOT_FOUND ? informer_container_of_id(snap, pods, word, length, c) : r;
	case WHOIS_UNCLEAR:
		break;
	}
	return -EINVAL;
}

/* Returns EXIT_CONDITION or EXIT_USAGE, after a message. */
static int
fail(const char *word, int r)
{
	char text[512];

	switch (r) {
	case -EINVAL:
		return cli_fail("'%s' is no pid, cgroup, container ID, IP address or UID; see informerctl "
				"whois --help",
				word);
	case INFORMER_E_TYPE:
		cli_fail("%s: of the node itself: its cgroup is no Pod's", word);
		return EXIT_CONDITION;
	case INFORMER_E_NOT_FOUND:
		cli_fail("%s: nothing in the cache has it, now or a short while ago", word);
		return EXIT_CONDITION;
	case -ESRCH:
	case INFORMER_E_AMBIGUOUS:
		informer_error_text(r, text, sizeof(text));
		cli_fail("%s", text);
		return EXIT_CONDITION;
	default:
		return cli_fail_code(r, word);
	}
}

/* ---- texts ---- */

static struct field_text
of(struct informer_text text)
{
	return (struct field_text){text.data, text.length};
}

typedef int getter_fn(const struct informer_object *, const char **, size_t *);

static struct field_text
get(const struct informer_object *object, getter_fn *getter)
{
	struct field_text text = {"", 0};

	getter(object, &text.data, &text.length);
	return text;
}

static int
node_name(const struct informer_object *pod, const char **ret_data, size_t *ret_length)
{
	return informer_get_string_at(pod, "spec.nodeName", ret_data, ret_length);
}

/* The time as the API writes it; "": not known. */
static const char *
when_deleted(const struct informer_object *pod, char text[32])
{
	uint64_t wall_ns;
	time_t seconds;
	struct tm tm;

	text[0] = '\0';
	if (!informer_object_deleted(pod, &wall_ns) || wall_ns == 0)
		return text;
	seconds = (time_t)(wall_ns / NS_PER_S);
	if (gmtime_r(&seconds, &tm))
		strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return text;
}

/* ---- tables ---- */

static void
add_state(const struct informer_container *c, struct cells *cells)
{
	char age[AGE_TEXT_MAX];
	uint64_t wall_ns;

	if (!c->deleted)
		cells_adds(cells, states[c->state][0] ? states[c->state] : "-");
	else if (informer_object_deleted(&c->pod, &wall_ns) && wall_ns > 0)
		cells_addf(cells, "deleted %s ago", age_format(age_now() - (int64_t)wall_ns, age));
	else
		cells_adds(cells, "deleted");
}

static void
add_workload(const struct informer_workload *w, struct cells *cells)
{
	cells_addf(cells, "%.*s/%.*s", (int)w->kind.length, w->kind.data, (int)w->name.length, w->name.data);
}

static const char *const headings[] = {"WHO",      "NAMESPACE", "POD",      "CONTAINER", "STATE",
				       "WORKLOAD", "NODE",      "RESTARTS", "IMAGE",     "UID"};
#define NARROW_COLUMNS 7u
#define WIDE_COLUMNS 10u

static void
add_row(const struct answer *a, enum output output, struct cells *cells)
{
	const struct informer_container *c = &a->container;

	if (c->id[0])
		cells_addf(cells, "%.12s", c->id); /* as crictl and docker show IDs */
	else
		cells_adds(cells, a->word);
	cells_add_or(cells, get(&c->pod, informer_object_namespace), "-");
	if (a->kind == INFORMER_ADDRESS_POD)
		cells_add(cells, get(&c->pod, informer_object_name));
	else
		cells_adds(cells, "-");
	cells_add_or(cells, of(c->name), "-");
	add_state(c, cells);
	add_workload(&a->workload, cells);
	cells_add_or(cells, get(&c->pod, node_name), "-");
	if (output != WIDE)
		return;
	if (c->kind == INFORMER_CONTAINER_UNKNOWN)
		cells_adds(cells, "-");
	else
		cells_addf(cells, "%u", c->restart_count);
	cells_add_or(cells, of(c->image), "-");
	cells_add(cells, get(&c->pod, informer_object_uid));
}

/* ---- JSON ---- */

static void
put(cJSON *object, const char *name, struct field_text text)
{
	char *terminated = strndup(text.data, text.length);

	if (terminated && text.length > 0)
		cJSON_AddStringToObject(object, name, terminated);
	free(terminated);
}

static void
put_container(cJSON *document, const struct informer_container *c)
{
	cJSON *object;

	if (c->kind == INFORMER_CONTAINER_UNKNOWN)
		return;
	object = cJSON_AddObjectToObject(document, "container");
	put(object, "name", of(c->name));
	cJSON_AddStringToObject(object, "kind", kinds[c->kind]);
	cJSON_AddStringToObject(object, "state", states[c->state]);
	cJSON_AddNumberToObject(object, "restartCount", c->restart_count);
	put(object, "image", of(c->image));
	put(object, "imageID", of(c->image_id));
	cJSON_AddStringToObject(object, "id", c->id);
	if (c->previous)
		cJSON_AddTrueToObject(object, "previous");
}

static void
put_workload(cJSON *document, const struct informer_workload *w)
{
	cJSON *object = cJSON_AddObjectToObject(document, "workload");

	put(object, "group", of(w->group));
	put(object, "version", of(w->version));
	put(object, "kind", of(w->kind));
	put(object, "namespace", of(w->ns));
	put(object, "name", of(w->name));
	put(object, "uid", of(w->uid));
	cJSON_AddBoolToObject(object, "cached", w->cached);
	cJSON_AddBoolToObject(object, "fromNames", w->from_names);
}

static int
put_name(void *context, const struct informer_object *service)
{
	struct field_text name = get(service, informer_object_name);
	char *terminated = strndup(name.data, name.length);

	if (terminated)
		cJSON_AddItemToArray(context, cJSON_CreateString(terminated));
	free(terminated);
	return 0;
}

/* Nothing, if informerd does not cache what it takes. */
static void
put_services(cJSON *document, const struct informer_object *pod)
{
	cJSON *names = cJSON_CreateArray();

	if (informer_services_of(pod, put_name, names) == 0)
		cJSON_AddItemToObject(document, "services", names);
	else
		cJSON_Delete(names);
}

static int
add_json(const struct answer *a, struct text *out)
{
	const struct informer_object *pod = &a->container.pod;
	cJSON *document = cJSON_CreateObject();
	char deleted[32], *line;

	cJSON_AddStringToObject(document, "who", a->word);
	put(document, "namespace", get(pod, informer_object_namespace));
	if (a->kind == INFORMER_ADDRESS_POD)
		put(document, "pod", get(pod, informer_object_name));
	put(document, "uid", get(pod, informer_object_uid));
	put(document, "node", get(pod, node_name));
	if (a->kind == INFORMER_ADDRESS_NODE)
		cJSON_AddNumberToObject(document, "hostPods", (double)a->host_pods);
	if (a->container.deleted)
		cJSON_AddStringToObject(document, "deleted", when_deleted(pod, deleted));
	put_container(document, &a->container);
	put_workload(document, &a->workload);
	if (a->kind == INFORMER_ADDRESS_POD)
		put_services(document, pod);
	line = cJSON_PrintUnformatted(document);
	cJSON_Delete(document);
	if (!line)
		return cli_fail("no memory");
	text_addf(out, "%s\n", line);
	cJSON_free(line);
	return 0;
}

/* ---- the command ---- */

/* All words in one snapshot. The exit code is the highest of the words'. */
static int
answer_all(const struct informer_snapshot *snap, struct informer_resource *pods, const struct cli_args *args,
	   enum output output, struct text *out)
{
	size_t columns = output == WIDE ? WIDE_COLUMNS : NARROW_COLUMNS;
	struct cells cells = CELLS_INIT;
	int exit_code = EXIT_SUCCESS;

	for (size_t i = 0; i < columns; i++)
		cells_adds(&cells, headings[i]);
	for (size_t i = 0; i < args->count; i++) {
		struct answer a = {.word = args->items[i],
				   .container.size = sizeof(a.container),
				   .workload.size = sizeof(a.workload)};
		int r = ask(snap, pods, &a);

		if (r == 0)
			r = informer_workload(&a.container.pod, &a.workload);
		if (r < 0)
			r = fail(a.word, r);
		else if (output == JSON)
			r = add_json(&a, out);
		else
			add_row(&a, output, &cells);
		exit_code = r > exit_code ? r : exit_code;
	}
	if (output != JSON && cells.count > columns)
		table_write(&cells, columns, out);
	cells_done(&cells);
	return exit_code;
}

struct request {
	struct cli_args args;
	const char *output;
};

static const struct flag flags[] = {
	{"output", 'o', "FORMAT", "table (default), wide, or json: a line for each",
	 FLAG_TEXT(struct request, output)},
	CLI_START_FLAG(", and for the list of pods"),
	CLI_FLAGS,
};

static bool
read_output(const char *text, enum output *ret)
{
	static const char *const names[] = {[NARROW] = "table", [WIDE] = "wide", [JSON] = "json"};

	for (unsigned i = NARROW; i <= JSON; i++)
		if (strcmp(text, names[i]) == 0) {
			*ret = (enum output)i;
			return true;
		}
	return false;
}

/* Find pods, and wait for their first list. May renew the snapshot. Returns -1, or the exit code. */
static int
open_pods(struct informer *inf, const struct cli_args *args, struct informer_snapshot *snap,
	  struct informer_resource **ret_pods)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	int r = cli_resource(inf, "pods", 5000, snap, ret_pods, &info);

	if (r == INFORMER_E_NOT_READY)
		return cli_fail_not_known(inf, "pods");
	if (r < 0)
		return cli_fail_code(r, "pods");
	return info.synced ? -1 : cli_wait_synced(inf, args, "pods", args->start_ms, snap);
}

static int
ask_daemon(const struct request *request, enum output output, struct text *out)
{
	struct informer *inf = cli_attach(&request->args, INFORMER_ORPHAN);
	struct informer_snapshot snap = {0};
	struct informer_resource *pods;
	int r = inf ? cli_begin(inf, &request->args, &snap) : EXIT_USAGE;

	if (r < 0)
		r = open_pods(inf, &request->args, &snap, &pods);
	if (r < 0)
		r = answer_all(&snap, pods, &request->args, output, out);
	informer_end(&snap);
	informer_detach(inf);
	return r;
}

static int
run(const struct cli_command *command, int argc, char **argv)
{
	struct request request = {.output = "table"};
	struct text out = TEXT_INIT(1);
	enum output output = NARROW;
	int r = cli_parse(command, argc, argv, &request.args), finish;

	if (r >= 0)
		goto out;
	if (request.args.count == 0)
		r = cli_fail("whois what? a pid, cgroup, container ID, IP address or UID");
	else if (!read_output(request.output, &output))
		r = cli_fail("-o %s is not known; there are table, wide and json", request.output);
	else
		r = ask_daemon(&request, output, &out);
	finish = cli_finish(&out);
	r = finish ? finish : r;
out:
	text_done(&out);
	free(request.args.items);
	return r;
}

const struct cli_command command_whois = {
	.name = "whois",
	.summary = "the Pod, container and workload of a pid, cgroup, container ID, IP or UID",
	.usage = "informerctl whois PID|CGROUP|CONTAINER-ID|IP|UID... [-o wide|json]",
	.details =
		"  informerctl whois $(pgrep nginx)\n"
		"  informerctl whois 10.0.0.7 containerd://9a0b...\n"
		"\n"
		"Of a container's ID the first 12 digits suffice, if no other container has them.\n"
		"A pid is looked up in /proc, or in the folder that $HOST_PROC names. Pods deleted a short "
		"while ago are found as well,\n"
		"and the state says so. The workload is the topmost controller, as far as informerd caches "
		"it.\n"
		"Exit codes: 0 all are known, 1 one is not or is ambiguous, 2 usage or no daemon.",
	.flags = flags,
	.flag_count = sizeof(flags) / sizeof(*flags),
	.run = run,
};
