/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery in rounds of requests. plan() finds the wanted names that are still unknown and marks what to
 * read next. pump() reads it, a few documents at a time. When all have answered, plan() runs again. Each
 * round marks something that was not read before, or discovery is done:
 *
 *	1  /api/v1
 *	2  /apis                          a name is still unknown; with all resources if the server can
 *	3  /apis/GROUP/VERSION...         of the groups that names contain
 *	4  the other preferred versions   an unqualified or unknown name is left
 *	5  the other versions             the same
 *
 * A repeated discovery for absent names (discovery_memory) begins with 2, or with 1 for a name without a
 * group. 304 ends it.
 *
 * If /apis returned everything (aggregated discovery), 3 to 5 read only versions that it called stale.
 */
#include "writer/kube/discovery.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "writer/kube/api_catalogue.h"
#include "writer/kube/question.h"
#include "writer/base/message.h"

#define MAX_IN_FLIGHT  8
#define MAX_BODY_BYTES (4u << 20)

struct discovery {
	struct transport *transport;
	discovery_done_fn *on_done;
	void *ctx;
	struct resource_name *names;
	size_t n_names;
	struct api_catalogue catalogue;
	size_t n_reading;
	struct discovery_memory *memory; /* or NULL */
	bool unchanged;
};

static void pump(struct discovery *d);

/* ---- rounds of requests ----------------------------------------------------------------------- */

static void
finish(struct discovery *d, int result, const char *message)
{
	d->on_done(d->ctx, d, result, message); /* may free d */
}

static bool
want(struct api_document *document)
{
	if (document->state != API_UNWANTED)
		return false;
	document->state = API_WANTED;
	return true;
}

/* Mark what the unknown names need next. True: there is something to read. */
static bool
plan(struct discovery *d)
{
	struct api_catalogue *c = &d->catalogue;
	bool unknown = false, wanted = false;

	for (size_t n = 0; n < d->n_names; n++) {
		if (api_catalogue_find(c, &d->names[n]))
			continue;
		unknown = true;
		for (size_t i = API_FIRST_GROUP; i < c->count; i++)
			if (api_document_is_of(c->documents[i], &d->names[n]))
				wanted |= want(c->documents[i]);
	}
	if (!unknown || wanted)
		return wanted;
	if (want(c->documents[API_GROUPS]))
		return true;
	for (int preferred = 1; preferred >= 0 && !wanted; preferred--)
		for (size_t i = API_FIRST_GROUP; i < c->count; i++)
			if (c->documents[i]->of.preferred == preferred)
				wanted |= want(c->documents[i]);
	return wanted;
}

static int
take_groups(struct discovery *d, const cJSON *document, const char *etag)
{
	struct api_version *list;
	bool current = true;
	size_t n;
	int r = api_groups_read(document, &list, &n);

	for (size_t i = 0; i < n && r == 0; i++) {
		current &= list[i].is_read;
		r = api_catalogue_add(&d->catalogue, &list[i]);
		if (r == 0)
			list[i] = (struct api_version){0};
	}
	api_versions_free(list, n);
	/* keep the ETag only if /apis had everything: a stale version must be read by itself */
	if (d->memory && r == 0 && current && *etag)
		d->memory->etag = strdup(etag); /* no memory: read in full next time */
	return r;
}

/* Returns 0, or a negative code when the answer is of no use. */
static int
take_answer(struct api_document *document, int result, const cJSON *answer, const char *message,
	    char **ret_error)
{
	int status = question_status(document->question);
	struct discovery *d = document->discovery;
	bool groups = !document->of.group;

	if (groups && status == 304 && d->memory && d->memory->etag) {
		d->unchanged = true;
		return 0;
	}
	if (groups && d->memory)
		discovery_memory_done(d->memory);
	if (result >= 0 && status == 403)
		return groups ? api_catalogue_add_builtin(&d->catalogue)
			      : api_catalogue_fill_builtin(&d->catalogue, document);
	if (result >= 0 && status == 404 && groups)
		return 0; /* a server without groups */
	if (result == 0)
		result = groups ? take_groups(d, answer, question_etag(document->question))
				: api_resources_read(answer, &document->of);
	else if (result < 0)
		message_set(ret_error, result, "%s", message);
	if (result == 1 || result == -EPROTO)
		return message_set(ret_error, -EPROTO,
				   "%s does not answer as a Kubernetes API server does%s%s",
				   transport_server(d->transport), *message ? ": " : "", message);
	return result;
}

static void
on_answer(void *ctx, int result, const cJSON *answer, const char *message)
{
	_cleanup_(message_freep) char *error = NULL;
	struct api_document *document = ctx;
	struct discovery *d = document->discovery;

	d->n_reading--;
	result = take_answer(document, result, answer, message, &error);
	document->question = NULL;
	document->state = result == 0 ? API_READ : API_FAILED;
	if (result < 0) {
		/* without core discovery fails; another group may fail alone */
		if (document == d->catalogue.documents[API_CORE] || result == -ENOMEM) {
			finish(d, result, error ? error : "no memory");
			return;
		}
		document->failure = error;
		error = NULL;
	}
	pump(d);
}

static int
read_document(struct discovery *d, struct api_document *document)
{
	const struct api_version *of = &document->of;
	struct transport_order order = {.flags = of->group ? 0 : TRANSPORT_DISCOVERY,
					.etag = of->group || !d->memory ? NULL : d->memory->etag};
	char path[2 * 256 + 16];
	int r;

	if (!of->group)
		snprintf(path, sizeof(path), "/apis");
	else if (!*of->group)
		snprintf(path, sizeof(path), "/api/%s", of->version);
	else
		snprintf(path, sizeof(path), "/apis/%s/%s", of->group, of->version);
	order.path_and_query = path;
	document->discovery = d;
	r = question_ask(d->transport, &order, "discovery", MAX_BODY_BYTES, on_answer, document,
			 &document->question);
	if (r < 0)
		return r;
	document->state = API_READING;
	d->n_reading++;
	return 0;
}

static void
pump(struct discovery *d)
{
	int r;

	do {
		for (size_t i = 0; i < d->catalogue.count && d->n_reading < MAX_IN_FLIGHT; i++) {
			if (d->catalogue.documents[i]->state != API_WANTED)
				continue;
			r = read_document(d, d->catalogue.documents[i]);
			if (r < 0) {
				finish(d, r, "no memory");
				return;
			}
		}
		if (d->n_reading > 0)
			return;
	} while (plan(d));
	finish(d, 0, "");
}

/* ---- public functions ------------------------------------------------------------------------- */

/* True if core must be read: nothing is remembered, or a name may be core's. */
static bool
asks_core(const struct discovery *d)
{
	bool asks = !d->memory || !d->memory->etag;

	for (size_t i = 0; i < d->n_names; i++)
		asks |= !d->names[i].group || !*d->names[i].group;
	return asks;
}

/* Send the first request. */
static int
begin(struct discovery *d)
{
	struct api_document **documents = d->catalogue.documents;

	if (asks_core(d))
		return read_document(d, documents[API_CORE]);
	documents[API_CORE]->state = API_READ;
	return read_document(d, documents[API_GROUPS]);
}

int
discovery_start(struct transport *transport, const char *const *names, size_t n_names,
		struct discovery_memory *memory, discovery_done_fn *done, void *ctx,
		struct discovery **ret_discovery, char **ret_error)
{
	struct discovery *d = calloc(1, sizeof(*d));
	int r = -ENOMEM;

	if (!d)
		return -ENOMEM;
	d->transport = transport;
	d->memory = memory;
	d->on_done = done;
	d->ctx = ctx;
	d->names = calloc(n_names + 1, sizeof(*d->names));
	if (!d->names)
		goto fail;
	for (; d->n_names < n_names; d->n_names++) {
		r = resource_name_parse(names[d->n_names], &d->names[d->n_names], ret_error);
		if (r < 0)
			goto fail;
	}
	r = api_catalogue_begin(&d->catalogue);
	if (r == 0)
		r = begin(d);
	if (r < 0)
		goto fail;
	*ret_discovery = d;
	return 0;
fail:
	discovery_free(d);
	return r;
}

void
discovery_memory_done(struct discovery_memory *memory)
{
	free(memory->etag);
	memory->etag = NULL;
}

bool
discovery_is_unchanged(const struct discovery *discovery)
{
	return discovery->unchanged;
}

void
discovery_free(struct discovery *discovery)
{
	if (!discovery)
		return;
	api_catalogue_done(&discovery->catalogue);
	for (size_t i = 0; i < discovery->n_names; i++)
		resource_name_done(&discovery->names[i]);
	free(discovery->names);
	free(discovery);
}

bool
discovery_used_builtin(const struct discovery *discovery)
{
	return discovery->catalogue.used_builtin;
}

int
discovery_resolve(const struct discovery *discovery, const char *name,
		  const struct kube_resource **ret_resource, char **ret_error)
{
	return api_catalogue_resolve(&discovery->catalogue, transport_server(discovery->transport), name,
				     ret_resource, ret_error);
}
