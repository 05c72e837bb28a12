/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of libinformer for the suite of all readers (tests/readers/README.md): a request a line, a JSON
 * document; an answer a line, in the same order. It ends at the end of its input.
 */
#include <cjson/cJSON.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader-lib/informer-node.h"
#include "shm-layout/time_ns.h"

#define HANDLE_MS 5000
#define KINDS 4

static struct informer *inf;
static struct informer_snapshot snap;
static FILE *out; /* the answer so far: discarded if the operation fails after all */

/* ---- requests ---- */

static const char *
text_of(const cJSON *request, const char *field)
{
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(request, field));

	return text ? text : "";
}

static bool
flag_of(const cJSON *request, const char *field)
{
	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(request, field));
}

static int
ms_of(const cJSON *request)
{
	const cJSON *ms = cJSON_GetObjectItemCaseSensitive(request, "ms");

	return ms ? ms->valueint : 0;
}

static struct informer_resource *
resource_of(const cJSON *request)
{
	struct informer_resource *resource = NULL;

	informer_resource_open(inf, text_of(request, "resource"), &resource);
	return resource;
}

/* ---- answers ---- */

static int
print_text(const char *data, size_t length)
{
	char *text = strndup(data, length), *json;
	cJSON *string = cJSON_CreateString(text);

	json = cJSON_PrintUnformatted(string);
	fputs(json, out);
	free(json);
	cJSON_Delete(string);
	free(text);
	return 0;
}

static int
print_piece(void *context, const char *data, size_t length)
{
	(void)context;
	fwrite(data, 1, length, out);
	return 0;
}

static void
print_error(int r)
{
	const char *name = informer_error_name(r);
	char text[1024];

	if (strncmp(name, "INFORMER_E_", 11) == 0)
		name += 11;
	informer_error_text(r, text, sizeof(text));
	fprintf(out, "{\"error\":\"%s\",\"text\":", name);
	print_text(text, strlen(text));
	fputs("}\n", out);
}

static int
print_object(const struct informer_object *o)
{
	const char *ns = "", *name = "", *version = "", *uid = "";
	size_t ns_length = 0, name_length = 0, version_length = 0, uid_length = 0;
	int r = informer_object_namespace(o, &ns, &ns_length);

	if (r == 0)
		r = informer_object_name(o, &name, &name_length);
	if (r < 0)
		return r;
	informer_object_resource_version(o, &version, &version_length);
	informer_object_uid(o, &uid, &uid_length);
	fputs("[", out);
	print_text(ns, ns_length);
	fputs(",", out);
	print_text(name, name_length);
	fputs(",", out);
	print_text(version, version_length);
	fputs(",", out);
	print_text(uid, uid_length);
	fputs("]", out);
	return 0;
}

/* ---- operations: each writes its answer and returns 0, or returns an error ---- */

static int
do_attach(const cJSON *request)
{
	struct informer_options options = {.size = sizeof(options),
					   .socket_path = text_of(request, "socket"),
					   .flags = (flag_of(request, "orphan") ? INFORMER_ORPHAN : 0) |
						    (flag_of(request, "verify") ? INFORMER_VERIFY : 0)};
	int r = informer_attach(&options, &inf);

	fputs("{}\n", out);
	return r;
}

static int
do_wait(const cJSON *request)
{
	int r = informer_wait_synced(inf, text_of(request, "resource"), HANDLE_MS);

	fputs("{}\n", out);
	return r;
}

static int
do_begin(const cJSON *request)
{
	struct informer_moment m = {0};
	int r = informer_begin(inf, &snap);

	(void)request;
	if (r == 0)
		r = informer_snapshot_moment(&snap, &m);
	if (r < 0)
		return r;
	fprintf(out, "{\"generation\":%llu,\"epoch\":%llu,\"seq\":%llu}\n", (unsigned long long)m.generation,
	       (unsigned long long)m.epoch, (unsigned long long)m.seq);
	return 0;
}

static int
do_end(const cJSON *request)
{
	(void)request;
	informer_end(&snap);
	fputs("{}\n", out);
	return 0;
}

static int
find(const cJSON *request, struct informer_object *ret)
{
	return informer_get_z(&snap, resource_of(request), text_of(request, "namespace"),
			      text_of(request, "name"), ret);
}

static int
do_get(const cJSON *request)
{
	struct informer_object o = {0};
	int r = find(request, &o);

	if (r < 0)
		return r;
	fputs("{\"object\":", out);
	r = print_object(&o);
	fputs("}\n", out);
	return r;
}

static enum informer_by
by_of(const cJSON *request)
{
	static const char *const kinds[KINDS] = {[INFORMER_BY_KEY] = "key",
						 [INFORMER_BY_UID] = "uid",
						 [INFORMER_BY_IP] = "ip",
						 [INFORMER_BY_CONTAINER_ID] = "container"};
	unsigned i = 0;

	while (i < KINDS - 1 && strcmp(text_of(request, "by"), kinds[i]) != 0)
		i++;
	return (enum informer_by)i;
}

static int
do_find(const cJSON *request)
{
	const char *value = text_of(request, "value");
	struct informer_object o = {0};
	bool deleted = false;
	int r;

	r = informer_find(&snap, resource_of(request), by_of(request), value, strlen(value), &o, &deleted);
	if (r < 0)
		return r;
	fputs("{\"object\":", out);
	r = print_object(&o);
	fprintf(out, ",\"deleted\":%s}\n", deleted ? "true" : "false");
	return r;
}

/* Print all objects that a field selector (NULL: all) matches. */
static int
print_all(struct informer_iter *it, const struct informer_field_selector *fields)
{
	const char *separator = "";
	struct informer_object o = {0};
	int r;

	fputs("{\"objects\":[", out);
	while ((r = informer_next(it, &o)) > 0) {
		if (fields && (r = informer_field_selector_matches(fields, &o)) == 0)
			continue;
		fputs(separator, out);
		separator = ",";
		if (r < 0 || (r = print_object(&o)) < 0)
			break;
	}
	fprintf(out, "],\"end\":\"%s\"}\n", r < 0 ? informer_error_name(r) : "");
	return 0;
}

static int
do_select(const cJSON *request)
{
	const char *labels = text_of(request, "labels"), *fields = text_of(request, "fields"),
		   *ns = text_of(request, "namespace");
	struct informer_label_selector *by_label = NULL;
	struct informer_field_selector *by_field = NULL;
	struct informer_iter it;
	int r = informer_label_selector_compile(inf, labels, strlen(labels), &by_label, NULL);

	if (r == 0)
		r = informer_field_selector_compile(inf, fields, strlen(fields), &by_field);
	if (r == 0)
		r = informer_select(&snap, resource_of(request), ns, strlen(ns), by_label, &it);
	if (r == 0)
		r = print_all(&it, by_field);
	informer_label_selector_free(by_label);
	informer_field_selector_free(by_field);
	return r;
}

static int
do_index(const cJSON *request)
{
	const char *value = text_of(request, "value");
	struct informer_iter it;
	int r = informer_by_index(&snap, resource_of(request), text_of(request, "index"), value,
				  strlen(value), &it);

	return r == 0 ? print_all(&it, NULL) : r;
}

static int
do_prefix(const cJSON *request)
{
	const char *value = text_of(request, "value");
	struct informer_iter it;
	int r = informer_by_index_prefix(&snap, resource_of(request), text_of(request, "index"), value,
					 strlen(value), &it);

	return r == 0 ? print_all(&it, NULL) : r;
}

static int
do_count(const cJSON *request)
{
	const char *value = text_of(request, "value");
	uint64_t count = 0;
	int r = informer_count_by_index(&snap, resource_of(request), text_of(request, "index"), value,
					strlen(value), &count);

	if (r == 0)
		fprintf(out, "{\"count\":%llu}\n", (unsigned long long)count);
	return r;
}

static int
do_field(const cJSON *request)
{
	static const char *const kinds[] = {
		[INFORMER_NULL] = "null",     [INFORMER_BOOL] = "bool",	    [INFORMER_INT] = "int",
		[INFORMER_UINT] = "uint",     [INFORMER_DOUBLE] = "double", [INFORMER_NUMBER] = "number",
		[INFORMER_STRING] = "string", [INFORMER_ARRAY] = "array",   [INFORMER_OBJECT] = "object"};
	const char *path_text = text_of(request, "path");
	struct informer_path *path = NULL;
	struct informer_object o = {0};
	struct informer_value v = {0};
	int r = find(request, &o);

	if (r == 0)
		r = informer_path_compile(inf, path_text, strlen(path_text), &path);
	if (r < 0)
		return r;
	r = informer_get_value(&o, path, &v);
	informer_path_free(path);
	if (r < 0)
		return r;
	fprintf(out, "{\"kind\":\"%s\",\"value\":", kinds[informer_value_kind(&v)]);
	r = informer_value_to_json(&v, print_piece, NULL);
	fputs("}\n", out);
	return r;
}

static int
do_text(const cJSON *request)
{
	struct informer_object o = {0};
	const char *text = "";
	size_t length = 0;
	int r = find(request, &o);

	if (r == 0)
		r = informer_get_string_at(&o, text_of(request, "path"), &text, &length);
	if (r < 0)
		return r;
	fputs("{\"text\":", out);
	print_text(text, length);
	fputs("}\n", out);
	return 0;
}

static struct informer_handler *handler;

static int
do_watch(const cJSON *request)
{
	const cJSON *entries = cJSON_GetObjectItemCaseSensitive(request, "entries");
	const char *consumer = text_of(request, "consumer");
	struct informer_handler_options o = {
		.size = sizeof(o),
		.pull = true,
		.resource = text_of(request, "resource"),
		.namespace_ = text_of(request, "namespace"),
		.label_selector = text_of(request, "labels"),
		.field_selector = text_of(request, "fields"),
		.consumer = *consumer ? consumer : NULL,
		.manual_ack = flag_of(request, "manual"),
		.queue_entries = entries ? (uint32_t)entries->valueint : 0,
	};
	int r = informer_add_handler(inf, &o, &handler);

	fputs("{}\n", out);
	return r;
}

static int
do_unwatch(const cJSON *request)
{
	(void)request;
	informer_remove_handler(handler);
	fputs("{}\n", out);
	return 0;
}

static int
print_named(const char *name, const struct informer_object *o)
{
	if (!o)
		return 0;
	fprintf(out, ",\"%s\":", name);
	return print_object(o);
}

static int
print_change(const struct informer_change *c)
{
	static const char *const kinds[] = {
		[INFORMER_CHANGE_ADDED] = "added",	   [INFORMER_CHANGE_UPDATED] = "updated",
		[INFORMER_CHANGE_DELETED] = "deleted",	   [INFORMER_CHANGE_SYNCED] = "synced",
		[INFORMER_CHANGE_COALESCED] = "coalesced", [INFORMER_CHANGE_RESYNC_BEGIN] = "resync_begin",
		[INFORMER_CHANGE_RESYNC_END] = "resync_end", [INFORMER_CHANGE_ERROR] = "error"};
	const char *ns = "", *name = "";
	size_t ns_length = 0, name_length = 0;
	int r = 0;

	fprintf(out, "{\"change\":\"%s\"", kinds[c->kind]);
	if (c->kind == INFORMER_CHANGE_ADDED)
		fprintf(out, ",\"initial\":%s", c->is_initial ? "true" : "false");
	if (c->kind == INFORMER_CHANGE_DELETED)
		fprintf(out, ",\"final\":%s", c->final_state_known ? "true" : "false");
	if (c->object) {
		r = informer_object_namespace(c->object, &ns, &ns_length);
		if (r == 0)
			r = informer_object_name(c->object, &name, &name_length);
		if (r < 0)
			return r;
		fputs(",\"key\":[", out);
		print_text(ns, ns_length);
		fputs(",", out);
		print_text(name, name_length);
		fputs("]", out);
		r = print_named("object", c->object);
	}
	if (r == 0)
		r = print_named("old", c->old);
	fputs("}\n", out);
	return r;
}

static int
do_next(const cJSON *request)
{
	const struct informer_change *change = NULL;
	struct informer_cursor cursor = {0};
	int r;

	if (informer_handler_cursor(handler, &cursor) == 0)
		informer_acknowledge(handler, &cursor); /* the change before is done */
	r = informer_changes_next(handler, ms_of(request), &change);
	if (r > 0)
		return print_change(change);
	fputs("{}\n", out);
	return r;
}

/* ---- parked keys: a handler for each resource and kind of key; answers are kept until asked for ---- */

static struct parking {
	struct parking *next;
	struct informer_handler *handler;
	enum informer_by by;
	char resource[64];
} *parkings;

static struct parked_answer {
	struct parked_answer *next;
	char *text;
} *first_answer, **last_answer = &first_answer;

static void
on_answer(void *context, void *parked, int result, const struct informer_object *o)
{
	const char *name = result == 0 ? "" : informer_error_name(result);
	struct parked_answer *a = calloc(1, sizeof(*a));
	char *value = parked;
	FILE *answer = out;
	size_t length;

	(void)context;
	out = open_memstream(&a->text, &length);
	fputs("{\"value\":", out);
	print_text(value, strlen(value));
	fprintf(out, ",\"result\":\"%s\"", name + (strncmp(name, "INFORMER_E_", 11) == 0 ? 11 : 0));
	if (o) {
		fprintf(out, ",\"deleted\":%s,\"object\":",
			informer_object_deleted(o, NULL) ? "true" : "false");
		print_object(o);
	}
	fputs("}\n", out);
	fclose(out);
	out = answer;
	free(value);
	*last_answer = a;
	last_answer = &a->next;
}

static int
parking_of(const cJSON *request, struct parking **ret)
{
	const char *resource = text_of(request, "resource");
	struct informer_parking_options o = {
		.size = sizeof(o), .resource = resource, .by = by_of(request), .on_answer = on_answer};
	struct parking *p = parkings;
	int r;

	while (p && (p->by != o.by || strcmp(p->resource, resource) != 0))
		p = p->next;
	if (!p) {
		p = calloc(1, sizeof(*p));
		snprintf(p->resource, sizeof(p->resource), "%s", resource);
		p->by = o.by;
		r = informer_add_parking(inf, &o, &p->handler);
		if (r < 0) {
			free(p);
			return r;
		}
		p->next = parkings;
		parkings = p;
	}
	*ret = p;
	return 0;
}

static int
do_park(const cJSON *request)
{
	const char *value = text_of(request, "value");
	struct parking *p;
	char *parked;
	int r = parking_of(request, &p);

	if (r < 0)
		return r;
	parked = strdup(value);
	r = informer_park(p->handler, value, strlen(value), ms_of(request), parked);
	if (r < 0)
		free(parked);
	fputs("{}\n", out);
	return r;
}

static int
do_answer(const cJSON *request)
{
	uint64_t end = time_ns(CLOCK_MONOTONIC) + (uint64_t)ms_of(request) * 1000000;
	struct pollfd news = {.fd = informer_fd(inf), .events = POLLIN};
	struct parked_answer *a;

	do {
		while (informer_dispatch(inf) > 0)
			;
		if (!first_answer)
			poll(&news, 1, 10);
	} while (!first_answer && time_ns(CLOCK_MONOTONIC) < end);
	a = first_answer;
	if (!a) {
		fputs("{}\n", out);
		return 0;
	}
	fputs(a->text, out);
	first_answer = a->next;
	last_answer = first_answer ? last_answer : &first_answer;
	free(a->text);
	free(a);
	return 0;
}

static int
first_fault(void *context, uint64_t offset, const char *what)
{
	(void)what;
	if (!*(uint64_t *)context)
		*(uint64_t *)context = offset;
	return 0;
}

static int
do_verify(const cJSON *request)
{
	struct informer_verify_counts counts = {0};
	uint64_t damage = 0;
	int r = informer_verify(&snap, first_fault, &damage, &counts);

	(void)request;
	fprintf(out, "{\"blocks\":%llu,\"bytes\":%llu,\"tags\":%llu,\"damage\":%llu}\n",
		(unsigned long long)counts.blocks, (unsigned long long)counts.bytes,
		(unsigned long long)counts.tags, (unsigned long long)damage);
	return r == INFORMER_E_CORRUPT && damage ? 0 : r;
}

static int
do_json(const cJSON *request)
{
	struct informer_object o = {0};
	int r = find(request, &o);

	if (r < 0)
		return r;
	fputs("{\"json\":", out);
	r = informer_object_to_json(&o, print_piece, NULL);
	fputs("}\n", out);
	return r;
}

/* ---- the node's view ---- */

static void
print_field(const char *name, struct informer_text text)
{
	fprintf(out, ",\"%s\":", name);
	print_text(text.data ? text.data : "", text.length);
}

static void
print_flag(const char *name, bool flag)
{
	fprintf(out, ",\"%s\":%s", name, flag ? "true" : "false");
}

static int
find_container(const cJSON *request, struct informer_container *c)
{
	const char *by = text_of(request, "by"), *value = text_of(request, "value");
	const cJSON *start = cJSON_GetObjectItemCaseSensitive(request, "start");
	struct informer_resource *pods = NULL;
	int r = informer_resource_open(inf, "pods", &pods);

	if (r < 0)
		return r;
	if (strcmp(by, "cgroup") == 0)
		return informer_container_of_cgroup(&snap, pods, value, strlen(value), c);
	if (strcmp(by, "pid") == 0)
		return informer_container_of_pid(&snap, pods, atoi(value),
						 start ? (uint64_t)start->valuedouble : 0, c);
	return informer_container_of_id(&snap, pods, value, strlen(value), c);
}

static int
do_container(const cJSON *request)
{
	static const char *const kinds[] = {"unknown", "regular", "init", "ephemeral"},
				 *const states[] = {"", "waiting", "running", "terminated"};
	struct informer_container c = {.size = sizeof(c)};
	int r = find_container(request, &c);

	if (r < 0)
		return r;
	fputs("{\"pod\":", out);
	r = print_object(&c.pod);
	print_flag("deleted", c.deleted);
	print_flag("previous", c.previous);
	fprintf(out, ",\"kind\":\"%s\",\"state\":\"%s\",\"restarts\":%u", kinds[c.kind], states[c.state],
		c.restart_count);
	print_field("id", (struct informer_text){c.id, strlen(c.id)});
	print_field("name", c.name);
	print_field("image", c.image);
	print_field("imageID", c.image_id);
	fputs("}\n", out);
	return r;
}

static int
do_workload(const cJSON *request)
{
	struct informer_workload w = {.size = sizeof(w)};
	struct informer_object o = {0};
	int r = find(request, &o);

	if (r == 0)
		r = informer_workload(&o, &w);
	if (r < 0)
		return r;
	fprintf(out, "{\"cached\":%s", w.cached ? "true" : "false");
	print_flag("fromNames", w.from_names);
	print_field("group", w.group);
	print_field("version", w.version);
	print_field("kind", w.kind);
	print_field("namespace", w.ns);
	print_field("name", w.name);
	print_field("uid", w.uid);
	r = print_named("object", w.cached ? &w.object : NULL);
	fputs("}\n", out);
	return r;
}

static int
do_related(const cJSON *request)
{
	const char *to = text_of(request, "to");
	struct informer_object o = {0};
	int r = find(request, &o);

	if (r == 0)
		r = strcmp(to, "controller") == 0  ? informer_controller_of(&o, &o)
		    : strcmp(to, "namespace") == 0 ? informer_namespace_of(&o, &o)
						   : informer_node_of(&o, &o);
	if (r < 0)
		return r;
	fputs("{\"object\":", out);
	r = print_object(&o);
	fputs("}\n", out);
	return r;
}

static int
do_address(const cJSON *request)
{
	static const char *const kinds[] = {"pod", "service", "node"};
	struct informer_address a = {.size = sizeof(a)};
	const char *ip = text_of(request, "value");
	int r = informer_by_address(&snap, ip, strlen(ip), &a);

	if (r < 0)
		return r;
	fprintf(out, "{\"kind\":\"%s\",\"hostPods\":%llu", kinds[a.kind], (unsigned long long)a.host_pods);
	print_flag("deleted", a.deleted);
	r = print_named("object", &a.object);
	fputs("}\n", out);
	return r;
}

static int
print_service(void *context, const struct informer_object *service)
{
	const char **separator = context;

	fputs(*separator, out);
	*separator = ",";
	return print_object(service);
}

static int
do_services(const cJSON *request)
{
	const char *separator = "";
	struct informer_object o = {0};
	int r = find(request, &o);

	fputs("{\"objects\":[", out);
	if (r == 0)
		r = informer_services_of(&o, print_service, &separator);
	fputs("],\"end\":\"\"}\n", out);
	return r;
}

static int
print_endpoint(void *context, const struct informer_endpoint *e)
{
	const char **separator = context;
	int r;

	fprintf(out, "%s{\"slice\":", *separator);
	*separator = ",";
	r = print_object(&e->slice);
	if (r == 0)
		r = print_named("pod", e->has_pod ? &e->pod : NULL);
	print_field("address", e->address);
	print_field("node", e->node);
	print_flag("ready", e->ready);
	print_flag("serving", e->serving);
	print_flag("terminating", e->terminating);
	fputs("}", out);
	return r;
}

static int
do_endpoints(const cJSON *request)
{
	const char *separator = "";
	struct informer_object o = {0};
	int r = find(request, &o);

	fputs("{\"endpoints\":[", out);
	if (r == 0)
		r = informer_endpoints_of(&o, print_endpoint, &separator);
	fputs("]}\n", out);
	return r;
}

static int
do_info(const cJSON *request)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	int r = informer_resource_info(&snap, resource_of(request), &info);

	if (r == 0)
		fprintf(out,
			"{\"resource\":\"%.*s\",\"kind\":\"%.*s\",\"group\":\"%.*s\",\"objects\":%llu,"
			"\"synced\":%s}\n",
		       (int)info.resource_length, info.resource, (int)info.kind_length, info.kind,
		       (int)info.group_length, info.group, (unsigned long long)info.object_count,
		       info.synced ? "true" : "false");
	return r;
}

static const struct {
	const char *name;
	int (*call)(const cJSON *request);
} operations[] = {
	{"attach", do_attach}, {"wait", do_wait},     {"begin", do_begin}, {"end", do_end},
	{"get", do_get},       {"select", do_select}, {"index", do_index}, {"prefix", do_prefix},
	{"count", do_count},   {"field", do_field},   {"json", do_json},   {"info", do_info},
	{"find", do_find},     {"text", do_text},     {"watch", do_watch}, {"next", do_next},
	{"unwatch", do_unwatch},
	{"container", do_container}, {"workload", do_workload}, {"related", do_related},
	{"address", do_address}, {"services", do_services}, {"endpoints", do_endpoints},
	{"park", do_park}, {"answer", do_answer}, {"verify", do_verify},
};

static int
answer(const cJSON *request)
{
	const char *op = text_of(request, "op");

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (strcmp(op, operations[i].name) == 0) {
			char *text = NULL;
			size_t length = 0;
			int r;

			out = open_memstream(&text, &length);
			r = operations[i].call(request);
			if (r < 0) {
				rewind(out);
				print_error(r);
			}
			fclose(out);
			fwrite(text, 1, length, stdout);
			free(text);
			return 0;
		}
	}
	fprintf(stderr, "reader_driver: no operation '%s'\n", op);
	return 2;
}

int
main(void)
{
	char *line = NULL;
	size_t size = 0;
	int r = 0;

	while (r == 0 && getline(&line, &size, stdin) > 0) {
		cJSON *request = cJSON_Parse(line);

		r = answer(request);
		fflush(stdout);
		cJSON_Delete(request);
	}
	free(line);
	informer_end(&snap);
	informer_detach(inf);
	return r;
}
