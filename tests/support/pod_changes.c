/* SPDX-License-Identifier: Apache-2.0 */
/* Changes pods at random through an API server and records each state, for chaos_change and events_change. */
#include "tests/support/pod_changes.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shm-layout/time_ns.h"

static size_t
take(char *data, size_t size, size_t n, void *context)
{
	struct pod_changes *c = context;
	char *longer = realloc(c->answer, c->answer_length + n * size + 1);

	if (!longer)
		return 0;
	c->answer = longer;
	memcpy(c->answer + c->answer_length, data, n * size);
	c->answer_length += n * size;
	c->answer[c->answer_length] = '\0';
	return n * size;
}

void
pod_changes_note(FILE *history, const char *type, const cJSON *pod)
{
	fprintf(history, "%s %s %s/%s %s %016llx %u %u\n",
		event_model_text(pod, "metadata", "resourceVersion"), type,
		event_model_text(pod, "metadata", "namespace"), event_model_text(pod, "metadata", "name"),
		event_model_text(pod, "metadata", "uid"), (unsigned long long)event_model_hash(pod),
		event_model_label_bits(pod), event_model_field_bits(pod));
	fflush(history);
}

/* Send a request. Returns the answer, to be deleted; exits on failure. */
static cJSON *
ask(struct pod_changes *c, const char *method, const char *path, const char *body, const char *content)
{
	struct curl_slist *headers = NULL;
	char to[512], header[512];
	cJSON *document = NULL;
	long status = 0;
	CURLcode code;

	c->answer_length = 0;
	snprintf(to, sizeof(to), "%s%s", c->url, path);
	curl_easy_reset(c->curl);
	curl_easy_setopt(c->curl, CURLOPT_URL, to);
	curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, c);
	if (c->ca_file)
		curl_easy_setopt(c->curl, CURLOPT_CAINFO, c->ca_file);
	if (c->token) {
		snprintf(header, sizeof(header), "Authorization: Bearer %s", c->token);
		headers = curl_slist_append(headers, header);
	}
	if (body) {
		snprintf(header, sizeof(header), "Content-Type: %s", content);
		headers = curl_slist_append(headers, header);
		curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, body);
	}
	curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
	code = curl_easy_perform(c->curl);
	curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_slist_free_all(headers);
	if (code == CURLE_OK && status / 100 == 2 && c->answer)
		document = cJSON_ParseWithLength(c->answer, c->answer_length);
	if (!document) {
		fprintf(stderr, "pod_changes: %s %s: %s, %ld %s\n", method, to, curl_easy_strerror(code),
			status, c->answer_length ? c->answer : "");
		exit(1);
	}
	return document;
}

cJSON *
pod_changes_get(struct pod_changes *c, const char *path)
{
	return ask(c, "GET", path, NULL, NULL);
}

/* Change a pod, and record the answer. */
static void
make(struct pod_changes *c, const char *method, const char *type, const char *ns, const char *rest,
     const char *body, const char *content)
{
	char path[256];
	cJSON *pod;

	snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods%s", ns, rest);
	pod = ask(c, method, path, body, content);
	pod_changes_note(c->history, type, pod);
	cJSON_Delete(pod);
}

static unsigned long long
now_ns(void)
{
	return time_ns(CLOCK_MONOTONIC);
}

static const char *
one_of(struct pod_changes *c, const char *const *words, unsigned n)
{
	return words[event_model_draw(&c->dice, n)];
}

/* JSON for a map field; null removes the field. */
static const char *
quoted(char *buffer, size_t size, const char *word)
{
	if (!*word)
		return "null";
	snprintf(buffer, size, "\"%s\"", word);
	return buffer;
}

static const char *const apps[] = {"web", "web", "db", "cache", ""};
static const char *const tiers[] = {"cache", "front", ""};
static const char *const hiddens[] = {"yes", "", ""};
static const char *const phases[] = {"Running", "Running", "Pending", "Failed"};
static const char *const nodes[] = {"node-1", "node-2", ""};
static const char *const notes[] = {"odd", "even", ""};

static void
create(struct pod_changes *c, unsigned ns, unsigned name)
{
	char body[4096], filler[2048];
	/* upstream's server refuses an image without a letter */
	unsigned length =
		event_model_draw(&c->dice, 8) == 0 ? 1 + event_model_draw(&c->dice, sizeof(filler) - 2) : 20;

	memset(filler, 'x', length);
	filler[length] = '\0';
	snprintf(body, sizeof(body),
		 "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"pod-%u\",\"labels\":{"
		 "\"app\":\"%s\",\"tier\":\"%s\"},"
		 "\"annotations\":{\"step\":\"%u\",\"sent\":\"%llu\",\"note\":\"%s\"}},\"spec\":{"
		 "\"nodeName\":\"%s\",\"containers\":[{\"name\":\"c\","
		 "\"image\":\"%s\"}]},\"status\":{\"phase\":\"%s\"}}",
		 c->first_name + name, one_of(c, apps, 5), one_of(c, tiers, 3), ++c->steps, now_ns(),
		 one_of(c, notes, 3), one_of(c, nodes, 3), filler, one_of(c, phases, 4));
	make(c, "POST", "A", event_model_namespaces[ns], "", body, "application/json");
	c->there[ns][name] = true;
}

static void
delete(struct pod_changes *c, unsigned ns, unsigned name)
{
	char rest[64];

	snprintf(rest, sizeof(rest), "/pod-%u", c->first_name + name);
	make(c, "DELETE", "D", event_model_namespaces[ns], rest, NULL, NULL);
	c->there[ns][name] = false;
}

static void
change(struct pod_changes *c, unsigned ns, unsigned name)
{
	char rest[64], body[1024], app[32], tier[32], hidden[32], said[32];

	if (event_model_draw(&c->dice, 2) == 0) {
		snprintf(rest, sizeof(rest), "/pod-%u/status", c->first_name + name);
		snprintf(body, sizeof(body),
			 "{\"status\":{\"phase\":\"%s\",\"message\":\"step %u\",\"sent\":\"%llu\"}}",
			 one_of(c, phases, 4), ++c->steps, now_ns());
	} else {
		snprintf(rest, sizeof(rest), "/pod-%u", c->first_name + name);
		snprintf(body, sizeof(body),
			 "{\"metadata\":{\"labels\":{\"app\":%s,\"tier\":%s,\"hidden\":%s},\"annotations\":{"
			 "\"step\":\"%u\",\"sent\":\"%llu\","
			 "\"note\":%s}}}",
			 quoted(app, sizeof(app), one_of(c, apps, 5)),
			 quoted(tier, sizeof(tier), one_of(c, tiers, 3)),
			 quoted(hidden, sizeof(hidden), one_of(c, hiddens, 3)), ++c->steps, now_ns(),
			 quoted(said, sizeof(said), one_of(c, notes, 3)));
	}
	make(c, "PATCH", "M", event_model_namespaces[ns], rest, body, "application/merge-patch+json");
}

unsigned
pod_changes_step(struct pod_changes *c)
{
	unsigned ns = event_model_draw(&c->dice, EVENT_MODEL_NAMESPACES),
		 name = event_model_draw(&c->dice, c->names);
	unsigned what = event_model_draw(&c->dice, 10);

	if (!c->there[ns][name])
		create(c, ns, name);
	else if (what < 7)
		change(c, ns, name);
	else
		delete(c, ns, name);
	if (what != 9 || c->there[ns][name])
		return 1;
	create(c, ns, name);
	return 2;
}

void
pod_changes_anchors(struct pod_changes *c)
{
	for (unsigned i = 0; i < EVENT_MODEL_NAMESPACES; i++)
		make(c, "POST", "A", event_model_namespaces[i], "",
		     "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"anchor\",\"labels\":{"
		     "\"app\":\"web\",\"tier\":\"front\"}},"
		     "\"spec\":{\"nodeName\":\"node-1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]},"
		     "\"status\":{\"phase\":\"Running\"}}",
		     "application/json");
}

bool
pod_changes_found(struct pod_changes *c, const cJSON *pod)
{
	const char *ns = event_model_text(pod, "metadata", "namespace"),
		   *name = event_model_text(pod, "metadata", "name");
	unsigned number;

	if (sscanf(name, "pod-%u", &number) != 1 || number < c->first_name ||
	    number >= c->first_name + c->names)
		return false;
	for (unsigned i = 0; i < EVENT_MODEL_NAMESPACES; i++)
		if (strcmp(ns, event_model_namespaces[i]) == 0)
			return c->there[i][number - c->first_name] = true;
	return false;
}

void
pod_changes_begin(struct pod_changes *c)
{
	c->curl = curl_easy_init();
	if (!c->curl || c->names > POD_CHANGES_NAMES)
		exit(1);
}

void
pod_changes_done(struct pod_changes *c)
{
	curl_easy_cleanup(c->curl);
	free(c->answer);
}
