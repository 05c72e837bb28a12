/* SPDX-License-Identifier: Apache-2.0 */
/* Drives informer-sim by its own functions, where a person would use curl. */
#include "tests/conversations/played_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tools/informer-sim/hold.h"
#include "tools/informer-sim/new_object.h"
#include "tools/informer-sim/churn.h"
#include "tools/informer-sim/http.h"
#include "tools/informer-sim/listen.h"
#include "tools/informer-sim/route.h"
#include "tools/schema/proto_schema.h"
#include "writer/base/message.h"

#define PODS_MAX 64
#define AN_HOUR_MS 3600000u
#define FUTURE_MS 1u /* delay of an answer to an RV of the future */

/* The latest state of a pod, as the test made it. */
struct pod {
	char key[80];     /* "default/a" */
	char labels[160]; /* JSON members, or "" */
	unsigned uid, edits;
};

struct talk_server {
	struct api_registry registry;
	struct sim_server server;
	const struct api_resource *pods, *configmaps;
	struct pod known[PODS_MAX];
	size_t known_count;
	unsigned uids, beats;
	bool down;
};

/* A pod in a script: [namespace/]name[@rv][:label=value,…]. The RV is that of the last change. */
struct item {
	char key[80];
	uint64_t rv; /* 0: the next RV */
	char labels[160];
	bool labelled;
};

/* ---- objects ------------------------------------------------------------------ */

static struct api_object *
make_object(const struct api_resource *resource, const char *text)
{
	struct sim_object_error error;
	struct api_doc_error doc_error;
	struct api_object *object = NULL;
	struct api_doc doc = {0};

	if (api_doc_parse(&doc, text, strlen(text), NULL, &doc_error) < 0 ||
	    sim_object_new(resource, &doc, &object, &error) < 0)
		abort();
	api_doc_done(&doc);
	return object;
}

/* Advance the server's RV to this one by changing another object. */
static int
go_to(struct talk_server *s, uint64_t rv, char **ret_error)
{
	char text[160];

	if (rv < sim_store_rv(s->server.store))
		return message_set(ret_error, -EINVAL,
				   "resource version %" PRIu64 " has passed: it is %" PRIu64 " now", rv,
				   sim_store_rv(s->server.store));
	while (sim_store_rv(s->server.store) < rv) {
		struct api_object *old = sim_store_get(s->server.store, s->configmaps, "default/clock"), *new;

		snprintf(text, sizeof(text),
			 "{\"metadata\":{\"name\":\"clock\",\"namespace\":\"default\",\"uid\":\"clock\"},"
			 "\"data\":{\"beats\":\"%u\"}}",
			 ++s->beats);
		new = make_object(s->configmaps, text);
		if ((old ? sim_store_update(s->server.store, s->configmaps, old, new)
			 : sim_store_create(s->server.store, s->configmaps, new)) < 0)
			abort();
		api_object_unref(old);
		api_object_unref(new);
	}
	return 0;
}

static struct pod *
find(struct talk_server *s, const char *key)
{
	for (size_t i = 0; i < s->known_count; i++)
		if (strcmp(s->known[i].key, key) == 0)
			return &s->known[i];
	return NULL;
}

static struct api_object *
object_of(const struct talk_server *s, const struct pod *pod)
{
	const char *slash = strchr(pod->key, '/');
	char text[640];

	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"%.*s\",\"uid\":\"uid-%u\",\"labels\":{%s},"
		 "\"annotations\":{\"edits\":\"%u\"}},"
		 "\"spec\":{\"nodeName\":\"node-1\",\"containers\":[]},\"status\":{\"phase\":\"Running\"}}",
		 slash + 1, (int)(slash - pod->key), pod->key, pod->uid, pod->labels, pod->edits);
	return make_object(s->pods, text);
}

static void
create(struct talk_server *s, struct pod *pod)
{
	struct api_object *object;

	pod->uid = ++s->uids;
	object = object_of(s, pod);
	if (sim_store_create(s->server.store, s->pods, object) < 0)
		abort();
	api_object_unref(object);
}

static void
delete(struct talk_server *s, const struct pod *pod)
{
	struct api_object *old = sim_store_get(s->server.store, s->pods, pod->key);
	uint64_t rv;

	if (!old || sim_store_delete(s->server.store, s->pods, old, &rv) < 0)
		abort();
	api_object_unref(old);
}

static void
update(struct talk_server *s, struct pod *pod)
{
	struct api_object *old = sim_store_get(s->server.store, s->pods, pod->key), *new;

	pod->edits++;
	new = object_of(s, pod);
	if (!old || sim_store_update(s->server.store, s->pods, old, new) < 0)
		abort();
	api_object_unref(old);
	api_object_unref(new);
}

/* Restore the pods of a backup. */
static void
know_again(struct talk_server *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->known_count; i++) {
		struct api_object *object = sim_store_get(s->server.store, s->pods, s->known[i].key);

		if (object)
			s->known[kept++] = s->known[i];
		api_object_unref(object);
	}
	s->known_count = kept;
}

/* ---- the words ------------------------------------------------------------------ */

static int
number(const char *word, uint64_t *ret, char **ret_error)
{
	char *end;

	*ret = word ? strtoull(word, &end, 10) : 0;
	if (!word || !word[0] || *end)
		return message_set(ret_error, -EINVAL, "a resource version is wanted here: \"%s\"",
				   word ? word : "");
	return 0;
}

static int
read_labels(char *text, struct item *item, char **ret_error)
{
	char *pair;
	size_t at = 0;

	item->labelled = true;
	while ((pair = strsep(&text, ","))) {
		char *value = strchr(pair, '=');

		if (!value)
			return message_set(ret_error, -EINVAL, "a label is name=value: \"%s\"", pair);
		*value++ = '\0';
		at += (size_t)snprintf(item->labels + at, sizeof(item->labels) - at, "%s\"%s\":\"%s\"",
				       at ? "," : "", pair, value);
		if (at >= sizeof(item->labels))
			return message_set(ret_error, -EINVAL, "too many labels");
	}
	return 0;
}

static int
read_item(char *word, struct item *ret, char **ret_error)
{
	char *labels = strchr(word, ':'), *rv;
	int r = 0;

	*ret = (struct item){0};
	if (labels) {
		*labels++ = '\0';
		r = read_labels(labels, ret, ret_error);
	}
	rv = strchr(word, '@');
	if (rv)
		*rv++ = '\0';
	if (r == 0 && rv)
		r = number(rv, &ret->rv, ret_error);
	if (r == 0 && (!word[0] || strlen(word) > 60))
		r = message_set(ret_error, -EINVAL,
				"a pod is [namespace/]name[@resourceVersion][:label=value]: \"%s\"", word);
	if (r == 0)
		snprintf(ret->key, sizeof(ret->key), "%s%s", strchr(word, '/') ? "" : "default/", word);
	return r;
}

enum verb { ADD, CHANGE, DELETE, REPLACE };

static int
do_to_pod(struct talk_server *s, enum verb verb, char *word, char **ret_error)
{
	struct item item;
	struct pod *pod;
	int r = read_item(word, &item, ret_error);

	if (r == 0 && item.rv > 0)
		r = go_to(s, item.rv - (verb == REPLACE ? 2 : 1), ret_error);
	if (r < 0)
		return r;
	pod = find(s, item.key);
	if ((verb == ADD) == (pod != NULL))
		return message_set(ret_error, -EINVAL, pod ? "%s is there already" : "there is no %s",
				   item.key);
	if (verb == ADD && s->known_count == PODS_MAX)
		return message_set(ret_error, -EINVAL, "more than %d pods", PODS_MAX);
	if (verb == ADD) {
		pod = &s->known[s->known_count++];
		*pod = (struct pod){0};
		memcpy(pod->key, item.key, sizeof(pod->key));
	}
	if (item.labelled)
		memcpy(pod->labels, item.labels, sizeof(pod->labels));
	if (verb == DELETE || verb == REPLACE)
		delete(s, pod);
	if (verb == ADD || verb == REPLACE)
		create(s, pod);
	if (verb == CHANGE)
		update(s, pod);
	if (verb == DELETE)
		*pod = s->known[--s->known_count];
	return 0;
}

/* Wait until the port is closed, or open. */
static int
await_port(const struct talk_server *s, bool open, char **ret_error)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(s->server.port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timespec step = {.tv_nsec = 1000000};

	for (unsigned i = 0; i < 5000; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		bool reached = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

		close(fd);
		if (reached == open)
			return 0;
		nanosleep(&step, NULL);
	}
	return message_set(ret_error, -EINVAL, "the port does not %s", open ? "open" : "close");
}

static int
go_down(struct talk_server *s, bool down, char **ret_error)
{
	struct sim_quiescence rest;
	char rule[64];
	int r;

	s->down = down;
	sim_listen_refuse(s->server.listen, down ? AN_HOUR_MS : 0);
	r = await_port(s, !down, ret_error);
	talk_server_rest(s, &rest);
	snprintf(rule, sizeof(rule), "when WATCH idle then close times %u", rest.watches);
	if (r == 0 && down && rest.watches > 0)
		r = talk_server_rule(s, rule, ret_error);
	return r;
}

static int
restore(struct talk_server *s, char *word, char **ret_error)
{
	uint64_t rv;

	if (number(word, &rv, ret_error) < 0)
		return -EINVAL;
	if (sim_store_restore(s->server.store, rv) < 0)
		return message_set(ret_error, -EINVAL, "resource version %" PRIu64 " is not in the history",
				   rv);
	know_again(s);
	return 0;
}

int
talk_server_do(struct talk_server *s, char *text, char **ret_error)
{
	static const char *const verbs[] = {
		[ADD] = "add", [CHANGE] = "change", [DELETE] = "delete", [REPLACE] = "replace"};
	char *verb = strsep(&text, " "), *word;
	uint64_t rv;
	size_t i = 0;
	int r = 0;

	if (strcmp(verb, "compact") == 0 && !text) {
		sim_store_compact(s->server.store);
		return 0;
	}
	if (strcmp(verb, "restore") == 0)
		return restore(s, text, ret_error);
	if ((strcmp(verb, "down") == 0 || strcmp(verb, "up") == 0) && !text)
		return go_down(s, verb[0] == 'd', ret_error);
	if (strcmp(verb, "at") == 0)
		return number(text, &rv, ret_error) < 0 ? -EINVAL : go_to(s, rv, ret_error);
	if (strcmp(verb, "pods") == 0)
		verb = "add";
	while (i < 4 && strcmp(verb, verbs[i]) != 0)
		i++;
	if (i == 4 || !text)
		return message_set(ret_error, -EINVAL,
				   "a server does: pods, add, change, delete or replace PODS, at N, compact, "
				   "restore N, down, "
				   "up; not \"%s\"",
				   verb);
	while (r == 0 && (word = strsep(&text, " "))) {
		if (strcmp(word, "at") == 0)
			return number(text, &rv, ret_error) < 0 ? -EINVAL : go_to(s, rv, ret_error);
		r = do_to_pod(s, (enum verb)i, word, ret_error);
	}
	return r;
}

/* ---- answers ------------------------------------------------------------------------ */

char *
talk_server_held(struct talk_server *s)
{
	struct api_buf buf = {0};

	api_buf_puts(&buf, "");
	sim_holds_print(s->server.holds, &buf);
	return api_buf_take(&buf);
}

int
talk_server_answer(struct talk_server *s, const char *action, char **ret_error)
{
	struct sim_fault fault;
	int r = sim_faults_action(s->server.faults, action, &fault, ret_error);

	if (r == 0 && !sim_holds_answer(s->server.holds, &fault))
		r = message_set(ret_error, -EINVAL, "no request waits for an answer");
	return r;
}

int
talk_server_rule(struct talk_server *s, const char *rule, char **ret_error)
{
	int r = sim_faults_add(s->server.faults, rule, ret_error);

	sim_store_wake(s->server.store);
	return r;
}

char *
talk_server_log(struct talk_server *s, size_t n)
{
	struct api_buf buf = {0};
	const char *at;

	api_buf_puts(&buf, "");
	sim_journal_print(&s->server.journal, &buf);
	at = buf.data;
	for (; n > 0 && *at; n--)
		at = strchr(at, '\n') + 1;
	memmove(buf.data, at, strlen(at) + 1);
	return api_buf_take(&buf);
}

static int
put_event(struct talk_server *s, const char *type, char *word, FILE *out, char **ret_error)
{
	char *option = word ? strchr(word, ':') : NULL, uid[80] = "", kind[32] = "Pod";
	const char *slash;
	struct item item;
	struct pod *pod;

	if (!word)
		return message_set(ret_error, -EINVAL, "an event is a type and a pod: MODIFIED a@15");
	if (option)
		*option++ = '\0';
	if (option && sscanf(option, "uid=%79s", uid) != 1 && sscanf(option, "kind=%31s", kind) != 1)
		return message_set(ret_error, -EINVAL,
				   "of an event's pod one says uid= or kind=, and not \"%s\"", option);
	if (read_item(word, &item, ret_error) < 0)
		return -EINVAL;
	pod = find(s, item.key);
	if (uid[0] == '\0' && pod)
		snprintf(uid, sizeof(uid), "uid-%u", pod->uid);
	else if (uid[0] == '\0')
		snprintf(uid, sizeof(uid), "uid-of-%.60s", word);
	slash = strchr(item.key, '/');
	fprintf(out,
		"{\"type\":\"%s\",\"object\":{\"kind\":\"%s\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
		"\"%s\",\"namespace\":\"%.*s\",\"uid\":\"%s\","
		"\"resourceVersion\":\"%" PRIu64 "\"}}}",
		type, kind, slash + 1, (int)(slash - item.key), item.key, uid, item.rv);
	return 0;
}

int
talk_server_events(struct talk_server *s, char *text, char **ret, char **ret_error)
{
	size_t length;
	char *type;
	FILE *out = open_memstream(ret, &length);
	int r = 0;

	if (!out)
		abort();
	while (r == 0 && (type = strsep(&text, " ")))
		r = put_event(s, type, strsep(&text, " "), out, ret_error);
	fclose(out);
	if (r < 0) {
		free(*ret);
		*ret = NULL;
	}
	return r;
}

/* ---- the server ------------------------------------------------------------------------ */

struct talk_server *
talk_server_new(bool hold)
{
	struct talk_server *s = calloc(1, sizeof(*s));
	struct proto_schema *schema = proto_schema_builtin();
	char *error = NULL;

	if (!s || !schema || sodium_init() < 0)
		abort();
	/* serve the newest release; no other thread runs yet */
	proto_schema_fit(schema, proto_schema_newest(schema));
	api_registry_init(&s->registry);
	s->pods = api_registry_find(&s->registry, "", "v1", "pods");
	s->configmaps = api_registry_find(&s->registry, "", "v1", "configmaps");
	s->server.registry = &s->registry;
	s->server.options = (struct sim_server_options){
		.address = "127.0.0.1", .bookmark_interval = 3600, .await_ms = FUTURE_MS};
	s->server.rng.state = 1;
	s->server.store = sim_store_new(10000, 0);
	s->server.faults = sim_faults_new();
	s->server.churn = sim_churn_new(&s->registry, s->server.store, 1);
	if ((hold && sim_faults_add(s->server.faults, "when ANY then hold", &error) < 0) ||
	    sim_server_start(&s->server, sim_route) < 0)
		abort();
	return s;
}

void
talk_server_free(struct talk_server *s)
{
	sim_server_stop(&s->server);
	sim_churn_free(s->server.churn);
	sim_faults_free(s->server.faults);
	sim_store_free(s->server.store);
	api_registry_done(&s->registry);
	free(s);
}

unsigned
talk_server_port(const struct talk_server *s)
{
	return s->server.port;
}

bool
talk_server_is_down(const struct talk_server *s)
{
	return s->down;
}

void
talk_server_rest(struct talk_server *s, struct sim_quiescence *ret)
{
	sim_server_quiescence(&s->server, ret);
}
