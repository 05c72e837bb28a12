/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers /metrics, /livez and /readyz. A daemon that answers is alive, with or without the API server. It is
 * ready when every resource was synced once. After that the cache's age is only a metric: an agent with a
 * stale cache is better than none.
 */
#include "writer/daemon/daemon_internal.h"

#include <stdlib.h>
#include <string.h>

#include "writer/base/http_server.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/base/metrics_text.h"

#define PLAIN "text/plain; charset=utf-8"

static void
answer_text(struct http_answer *answer, unsigned status, char *text)
{
	answer->status = status;
	answer->content_type = PLAIN;
	answer->text = text;
	answer->length = text ? strlen(text) : 0;
}

static void
answer_live(bool verbose, struct http_answer *answer)
{
	answer_text(answer, 200, strdup(verbose ? "[+]loop ok\nlivez check passed\n" : "ok"));
}

/* Add a line of /readyz, in the form of Kubernetes' own components. */
static void
add_check(struct bytes *text, bool *failed, const char *name, bool ok, const char *why)
{
	_cleanup_(message_freep) char *line = NULL;

	if (ok)
		message_format(&line, "[+]%s ok\n", name);
	else
		message_format(&line, "[-]%s failed: %s\n", name, why);
	if (!line || bytes_append(text, line, strlen(line)) < 0)
		*failed = true;
}

static void
answer_ready(const struct daemon *d, bool verbose, struct http_answer *answer)
{
	static const char passed[] = "readyz check passed\n", not_passed[] = "readyz check failed\n";
	struct bytes text = {0};
	bool failed = false, ready = true, ok;

	for (size_t i = 0; i < d->cached_count; i++) {
		const struct cached_resource *c = d->cached[i];
		struct reflector_status status = {0};
		const char *why = d->discovery_error ? d->discovery_error
						     : "the API server was not heard yet";

		if (!c) {
			bool absent = d->discovered && d->config->resources[i].optional;

			add_check(&text, &failed, d->config->resources[i].resource, absent, why);
			ready &= absent;
			continue;
		}
		reflector_get_status(c->reflector, &status);
		why = status.last_error && *status.last_error ? status.last_error : stat_word(c);
		ok = c->was_synced || cached_resource_is_dormant(c);
		add_check(&text, &failed, c->spec->name, ok, why);
		ready &= ok;
	}
	if (bytes_append(&text, ready ? passed : not_passed, ready ? sizeof(passed) : sizeof(not_passed)) < 0)
		failed = true;
	if (failed || (ready && !verbose)) {
		bytes_done(&text);
		answer_text(answer, failed ? 500 : 200, failed ? NULL : strdup("ok"));
		return;
	}
	answer_text(answer, ready ? 200 : 503, (char *)text.data);
}

/* A standby is ready when the names are resolved: then it can take over. */
static void
answer_standby(const struct daemon *d, struct http_answer *answer)
{
	char *text = NULL;

	if (!d->names_known)
		message_format(&text, "[-]standby failed: %s\nreadyz check failed\n",
			       d->discovery_error ? d->discovery_error : "the API server was not heard yet");
	answer_text(answer, d->names_known ? 200 : 503, d->names_known ? strdup("ok") : text);
}

static void
answer(void *context, const char *path, bool verbose, struct http_answer *ret)
{
	struct daemon *d = context;

	if (strcmp(path, "/livez") == 0) {
		answer_live(verbose, ret);
	} else if (strcmp(path, "/readyz") == 0 && !d->local.store) {
		answer_standby(d, ret);
	} else if (strcmp(path, "/readyz") == 0) {
		answer_ready(d, verbose, ret);
	} else if (strcmp(path, "/metrics") == 0) {
		ret->text = metrics_report(d, &ret->length);
		ret->content_type = METRICS_CONTENT_TYPE;
		ret->status = 200;
	}
}

int
endpoints_start(struct daemon *d, char **ret_error)
{
	_cleanup_(message_freep) char *error = NULL;
	struct listen_address address;
	struct listener listener;
	char name[sizeof(listener.name)];
	int r;

	if (!d->config->metrics_address || d->http)
		return 0;
	r = listen_address_parse(d->config->metrics_address, &address, &error);
	if (r == 0)
		r = listener_open(&address, &listener, &error);
	if (r < 0)
		return message_set(ret_error, r, "--metrics-address %s: %s", d->config->metrics_address,
				   error ? error : strerror(-r));
	memcpy(name, listener.name, sizeof(name));
	r = http_server_new(&d->loop, &listener, answer, d, &d->http);
	if (r < 0)
		return message_set(ret_error, r, "--metrics-address %s: the HTTP server does not start: %s",
				   d->config->metrics_address, strerror(-r));
	log_info("metrics: %s/metrics, /livez and /readyz", name);
	return 0;
}
