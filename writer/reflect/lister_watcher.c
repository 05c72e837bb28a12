/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a Reflector's LIST and WATCH requests over the transport: the resource's path, and the parameters as
 * an encoded query.
 */
#include "writer/reflect/lister_watcher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/base/message.h"

struct text {
	FILE *out;
	char *data;
	size_t length;
	char separator;
};

static int
text_open(struct text *t, const char *start)
{
	*t = (struct text){ .separator = '?' };
	t->out = open_memstream(&t->data, &t->length);
	if (!t->out)
		return -ENOMEM;
	fputs(start, t->out);
	return 0;
}

static char *
text_close(struct text *t)
{
	int failed = ferror(t->out);

	if (fclose(t->out) != 0 || failed) {
		free(t->data);
		return NULL;
	}
	return t->data;
}

/* Everything but the unreserved characters of RFC 3986 is encoded. */
static void
put_encoded(FILE *out, const char *value)
{
	for (const unsigned char *c = (const unsigned char *)value; *c; c++) {
		if ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
		    strchr("-._~", *c))
			fputc(*c, out);
		else
			fprintf(out, "%%%02X", *c);
	}
}

static void
put_parameter(struct text *t, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	fputc(t->separator, t->out);
	t->separator = '&';
	fprintf(t->out, "%s=", name);
	put_encoded(t->out, value);
}

static void
put_number(struct text *t, const char *name, unsigned value)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%u", value);
	put_parameter(t, name, value > 0 ? digits : NULL);
}

char *
kube_request_url(const struct kube_lister_watcher *lw, const struct request_params *params)
{
	struct text t;

	if (text_open(&t, lw->path) < 0)
		return NULL;
	put_parameter(&t, "watch", params->watch ? "true" : NULL);
	put_parameter(&t, "allowWatchBookmarks", params->watch ? "true" : NULL);
	put_parameter(&t, "sendInitialEvents", params->initial_events ? "true" : NULL);
	put_number(&t, "limit", params->limit);
	put_parameter(&t, "continue", params->continue_token);
	put_parameter(&t, "resourceVersion", params->resource_version);
	put_parameter(&t, "resourceVersionMatch", params->resource_version_match);
	put_number(&t, "timeoutSeconds", params->timeout_s);
	if (lw->selectors[0])
		fprintf(t.out, "%c%s", t.separator, lw->selectors + 1);
	return text_close(&t);
}

static int
kube_ask(void *context, const struct request_params *params, const struct transport_callbacks *callbacks,
	 void *ctx, void **ret_request)
{
	const struct kube_lister_watcher *lw = context;
	unsigned flags = (params->watch ? TRANSPORT_WATCH : 0u) |
			 (params->fresh_connection ? TRANSPORT_FRESH : 0u) |
			 (params->metadata_only ? TRANSPORT_METADATA | TRANSPORT_ELSE_WHOLE : 0u) |
			 (params->protobuf ? TRANSPORT_PROTOBUF : 0u) |
			 (lw->metadata_only ? TRANSPORT_METADATA : 0u) |
			 (lw->drop_managed_fields ? TRANSPORT_DROP_MANAGED : 0u);
	struct transport_request *request = NULL;
	char *url = kube_request_url(lw, params);
	int r = url ? transport_get(lw->transport, url, flags, callbacks, ctx, &request) : -ENOMEM;

	free(url);
	if (r == 0)
		*ret_request = request;
	return r;
}

static void
kube_cancel(void *context, void *request)
{
	(void)context;
	transport_cancel(request);
}

static void
kube_pause(void *context, void *request)
{
	(void)context;
	transport_pause(request);
}

static void
kube_resume(void *context, void *request)
{
	(void)context;
	transport_resume(request);
}

int
kube_lister_watcher_init(struct kube_lister_watcher *lw, struct transport *transport,
			 const struct kube_resource *resource, const char *namespace_,
			 const char *label_selector, const char *field_selector)
{
	struct text t;

	*lw = (struct kube_lister_watcher){
		.base = {lw, kube_ask, kube_cancel, kube_pause, kube_resume},
		.transport = transport,
		.path = kube_resource_path(resource, namespace_),
	};
	if (lw->path && text_open(&t, "") == 0) {
		t.separator = '&';
		put_parameter(&t, "labelSelector", label_selector);
		put_parameter(&t, "fieldSelector", field_selector);
		lw->selectors = text_close(&t);
	}
	if (lw->path && lw->selectors)
		return 0;
	kube_lister_watcher_done(lw);
	return -ENOMEM;
}

void
kube_lister_watcher_done(struct kube_lister_watcher *lw)
{
	free(lw->path);
	free(lw->selectors);
	lw->path = lw->selectors = NULL;
}
