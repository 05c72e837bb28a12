/*
 * events_change URL HISTORY SEED RATE [even]: changes pods at random through an API server, about RATE a second, with bursts unless "even",
 * until SIGTERM, and writes down each state that it made (tests/support/event_model.h); each says when it was sent. Nobody else may change
 * them. SIGUSR1: no pauses any more. Exits 1 when the server says anything that is not expected.
 */
#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/event_model.h"

#define NAMES 14

static volatile sig_atomic_t ends, hurries;
static struct event_model_random dice;
static CURL *curl;
static FILE *history;
static const char *url;
static bool there[EVENT_MODEL_NAMESPACES][NAMES];
static unsigned steps;

static void
on_signal(int number)
{
	*(number == SIGTERM ? &ends : &hurries) = 1;
}

struct answer {
	char data[1 << 16];
	size_t length;
};

static size_t
take(char *data, size_t size, size_t n, void *context)
{
	struct answer *a = context;

	n *= size;
	if (n >= sizeof(a->data) - a->length)
		return 0;
	memcpy(a->data + a->length, data, n);
	a->length += n;
	a->data[a->length] = '\0';
	return n;
}

static void
note(const char *type, const cJSON *pod)
{
	fprintf(history, "%s %s %s/%s %s %016llx %u %u\n", event_model_text(pod, "metadata", "resourceVersion"), type,
		event_model_text(pod, "metadata", "namespace"), event_model_text(pod, "metadata", "name"),
		event_model_text(pod, "metadata", "uid"), (unsigned long long)event_model_hash(pod), event_model_label_bits(pod),
		event_model_field_bits(pod));
	fflush(history);
}

/* Ask, and write the answer down. */
static void
ask(const char *method, const char *type, const char *ns, const char *path, const char *body, const char *content)
{
	static struct answer answer;
	struct curl_slist *headers = NULL;
	char to[512], header[96];
	long status = 0;
	cJSON *pod = NULL;
	CURLcode code;

	answer.length = 0;
	snprintf(to, sizeof(to), "%s/api/v1/namespaces/%s/pods%s", url, ns, path);
	curl_easy_reset(curl);
	curl_easy_setopt(curl, CURLOPT_URL, to);
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
	if (body) {
		snprintf(header, sizeof(header), "Content-Type: %s", content);
		headers = curl_slist_append(NULL, header);
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	}
	code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_slist_free_all(headers);
	if (code == CURLE_OK && status / 100 == 2)
		pod = cJSON_ParseWithLength(answer.data, answer.length);
	if (!pod) {
		fprintf(stderr, "events_change: %s %s: %s, %ld %s\n", method, to, curl_easy_strerror(code), status, answer.data);
		exit(1);
	}
	note(type, pod);
	cJSON_Delete(pod);
}

static unsigned long long
now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned long long)now.tv_sec * 1000000000u + (unsigned long long)now.tv_nsec;
}

static const char *
one_of(const char *const *words, unsigned n)
{
	return words[event_model_draw(&dice, n)];
}

/* JSON for a map field, or null, which takes it away. */
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
create(unsigned ns, unsigned name)
{
	char body[4096], filler[2048];
	unsigned length = event_model_draw(&dice, 8) == 0 ? event_model_draw(&dice, sizeof(filler) - 1) : 20;

	memset(filler, 'x', length);
	filler[length] = '\0';
	snprintf(body, sizeof(body),
		 "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"pod-%u\",\"labels\":{\"app\":\"%s\",\"tier\":\"%s\"},"
		 "\"annotations\":{\"step\":\"%u\",\"sent\":\"%llu\",\"note\":\"%s\"}},\"spec\":{\"nodeName\":\"%s\",\"containers\":[{\"name\":\"c\","
		 "\"image\":\"%s\"}]},\"status\":{\"phase\":\"%s\"}}",
		 name, one_of(apps, 5), one_of(tiers, 3), ++steps, now_ns(), one_of(notes, 3), one_of(nodes, 3), filler, one_of(phases, 4));
	ask("POST", "A", event_model_namespaces[ns], "", body, "application/json");
	there[ns][name] = true;
}

static void
delete(unsigned ns, unsigned name)
{
	char path[64];

	snprintf(path, sizeof(path), "/pod-%u", name);
	ask("DELETE", "D", event_model_namespaces[ns], path, NULL, NULL);
	there[ns][name] = false;
}

static void
change(unsigned ns, unsigned name)
{
	char path[64], body[1024], app[32], tier[32], hidden[32], said[32];

	if (event_model_draw(&dice, 2) == 0) {
		snprintf(path, sizeof(path), "/pod-%u/status", name);
		snprintf(body, sizeof(body), "{\"status\":{\"phase\":\"%s\",\"message\":\"step %u\",\"sent\":\"%llu\"}}", one_of(phases, 4), ++steps,
			 now_ns());
	} else {
		snprintf(path, sizeof(path), "/pod-%u", name);
		snprintf(body, sizeof(body),
			 "{\"metadata\":{\"labels\":{\"app\":%s,\"tier\":%s,\"hidden\":%s},\"annotations\":{\"step\":\"%u\",\"sent\":\"%llu\","
			 "\"note\":%s}}}",
			 quoted(app, sizeof(app), one_of(apps, 5)), quoted(tier, sizeof(tier), one_of(tiers, 3)),
			 quoted(hidden, sizeof(hidden), one_of(hiddens, 3)), ++steps, now_ns(), quoted(said, sizeof(said), one_of(notes, 3)));
	}
	ask("PATCH", "M", event_model_namespaces[ns], path, body, "application/merge-patch+json");
}

static void
step(void)
{
	unsigned ns = event_model_draw(&dice, EVENT_MODEL_NAMESPACES), name = event_model_draw(&dice, NAMES);
	unsigned what = event_model_draw(&dice, 10);

	if (!there[ns][name])
		create(ns, name);
	else if (what < 7)
		change(ns, name);
	else
		delete(ns, name);
	if (what == 9 && !there[ns][name])
		create(ns, name);
}

/* Pods that are always there, so that no selection is ever empty. */
static void
anchors(void)
{
	for (unsigned i = 0; i < EVENT_MODEL_NAMESPACES; i++)
		ask("POST", "A", event_model_namespaces[i], "",
		    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"anchor\",\"labels\":{\"app\":\"web\",\"tier\":\"front\"}},"
		    "\"spec\":{\"nodeName\":\"node-1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]},\"status\":{\"phase\":\"Running\"}}",
		    "application/json");
}

int
main(int argc, char **argv)
{
	struct timespec pause;
	unsigned burst = 0;
	bool even;

	if (argc != 5 && argc != 6)
		return 2;
	even = argc == 6;
	url = argv[1];
	history = fopen(argv[2], "ae");
	dice.state = strtoull(argv[3], NULL, 10);
	pause = (struct timespec){.tv_nsec = 1000000000L / atoi(argv[4])};
	curl = curl_easy_init();
	if (!history || !curl)
		return 1;
	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	anchors();
	while (!ends) {
		step();
		if (burst > 0)
			burst--;
		else if (!even && event_model_draw(&dice, 200) == 0)
			burst = event_model_draw(&dice, 400);
		else if (!hurries)
			nanosleep(&pause, NULL);
	}
	curl_easy_cleanup(curl);
	return fclose(history) == 0 ? 0 : 1;
}
