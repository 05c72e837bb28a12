/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between Pods and Services, by EndpointSlices: a slice names its Service in a label, and the Pods behind it
 * in its endpoints.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "reader-lib/informer-node.h"
#include "reader-lib/read/found_object.h"
#include "reader-lib/read/kind_lookup.h"
#include "reader-lib/read/known_text.h"
#include "reader-lib/read/private_home.h"

#define SLICES "endpointslices.discovery.k8s.io"
#define SERVICE_LABEL "kubernetes.io/service-name"
#define NAME_MAX_BYTES 253u
/* Services of one Pod; further ones may come twice if they have several slices. */
#define SERVICES_MAX 64u

static struct known_field endpoints = KNOWN_FIELD("endpoints"), kind_field = KNOWN_FIELD("kind"),
			  name_field = KNOWN_FIELD("name");

enum { ADDRESSES, CONDITIONS, TARGET, NODE, ENDPOINT_FIELDS };
static struct known_field endpoint_fields[] = {
	[ADDRESSES] = KNOWN_FIELD("addresses"),
	[CONDITIONS] = KNOWN_FIELD("conditions"),
	[TARGET] = KNOWN_FIELD("targetRef"),
	[NODE] = KNOWN_FIELD("nodeName"),
};

enum { READY, SERVING, TERMINATING, CONDITION_FIELDS };
static struct known_field condition_fields[] = {
	[READY] = KNOWN_FIELD("ready"),
	[SERVING] = KNOWN_FIELD("serving"),
	[TERMINATING] = KNOWN_FIELD("terminating"),
};

/* An iteration over the slices with a value in an index. A copy's private home has none. */
static int
slices_with(const struct snapshot *s, const char *index, const char *value, size_t length,
	    struct informer_iter *ret_iter)
{
	const struct informer_snapshot *snapshot = (const struct informer_snapshot *)(const void *)s;
	struct informer_resource *slices;
	int r = is_private_home(s) ? INFORMER_E_NO_RESOURCE : informer_resource_open(s->inf, SLICES, &slices);

	return r < 0 ? r : informer_by_index(snapshot, slices, index, value, length, ret_iter);
}

/* ---- Services of a Pod ---- */

struct seen {
	struct informer_text names[SERVICES_MAX];
	size_t count;
};

static bool
is_new(struct seen *seen, struct informer_text name)
{
	for (size_t i = 0; i < seen->count; i++)
		if (text_same(seen->names[i], name))
			return false;
	if (seen->count < SERVICES_MAX)
		seen->names[seen->count++] = name;
	return true;
}

static int
service_of_slice(const struct snapshot *s, const struct informer_object *slice, struct seen *seen,
		 struct informer_object *ret)
{
	static const struct informer_text v1 = TEXT_OF("v1"), kind = TEXT_OF("Service");
	struct informer_text ns, name;
	int r = informer_object_label(slice, SERVICE_LABEL, &name.data, &name.length);

	if (r == 0 && !is_new(seen, name))
		r = INFORMER_E_NOT_FOUND;
	if (r == 0)
		r = informer_object_namespace(slice, &ns.data, &ns.length);
	return r < 0 ? r : object_of_kind(s, &v1, &kind, &ns, &name, ret);
}

int
informer_services_of(const struct informer_object *pod,
		     int (*each)(void *context, const struct informer_object *service), void *context)
{
	struct informer_object slice, service;
	struct seen seen = {.count = 0};
	const struct snapshot *s;
	struct informer_text uid;
	struct informer_iter it;
	int r = object_usable(pod), next = 0;

	if (r < 0 || !each)
		return r < 0 ? r : -EINVAL;
	s = snapshot_of(pod->snapshot_);
	r = informer_object_uid(pod, &uid.data, &uid.length);
	if (r == 0)
		r = slices_with(s, "targetUID", uid.data, uid.length, &it);
	while (r == 0 && (next = informer_next(&it, &slice)) > 0) {
		r = service_of_slice(s, &slice, &seen, &service);
		if (r == 0)
			r = each(context, &service);
		else if (r == INFORMER_E_NOT_FOUND) /* told, or the slice is no Service's, or that is gone */
			r = 0;
	}
	return snapshot_validate(s, r == 0 ? next : r);
}

/* ---- endpoints of a Service ---- */

static int
tell(const struct informer_object *slice, const struct informer_text *ns, struct value endpoint,
     int (*each)(void *context, const struct informer_endpoint *endpoint), void *context)
{
	static const struct informer_text v1 = TEXT_OF("v1"), pod = TEXT_OF("Pod");
	struct value v[ENDPOINT_FIELDS], conditions[CONDITION_FIELDS];
	struct informer_endpoint e = {.size = sizeof(e), .slice = *slice};
	struct informer_text kind, name;
	int r = INFORMER_E_NOT_FOUND;

	known_fields(endpoint, endpoint_fields, ENDPOINT_FIELDS, v);
	known_fields(v[CONDITIONS], condition_fields, CONDITION_FIELDS, conditions);
	e.address = text_of(value_element(v[ADDRESSES], 0)); /* as kube-proxy: the others are not used */
	e.node = text_of(v[NODE]);
	/* what is not said counts as ready, as the API has it */
	e.ready = flag_of(conditions[READY], true);
	e.serving = flag_of(conditions[SERVING], e.ready);
	e.terminating = flag_of(conditions[TERMINATING], false);
	kind = known_text(v[TARGET], &kind_field);
	name = known_text(v[TARGET], &name_field);
	if (text_same(kind, pod))
		r = object_of_kind(snapshot_of(slice->snapshot_), &v1, &kind, ns, &name, &e.pod);
	if (r < 0 && r != INFORMER_E_NOT_FOUND && r != INFORMER_E_NO_RESOURCE)
		return r;
	e.has_pod = r == 0;
	return each(context, &e);
}

static int
tell_all(const struct informer_object *slice, const struct informer_text *ns,
	 int (*each)(void *context, const struct informer_endpoint *endpoint), void *context)
{
	struct value body = value_of_object(&snapshot_of(slice->snapshot_)->view, slice->ref_);
	struct value_iter it = value_iterate(known_field(body, &endpoints));
	struct informer_text its;
	int r = informer_object_namespace(slice, &its.data, &its.length);

	if (r == 0 && !text_same(its, *ns))
		return 0;
	while (r == 0 && value_next(&it))
		r = tell(slice, ns, it.item, each, context);
	return r == 0 && it.damaged ? -EBADMSG : r;
}

int
informer_endpoints_of(const struct informer_object *service,
		      int (*each)(void *context, const struct informer_endpoint *endpoint), void *context)
{
	char label[sizeof(SERVICE_LABEL) + 1 + NAME_MAX_BYTES];
	struct informer_object slice;
	struct informer_text ns = {"", 0}, name = {"", 0};
	const struct snapshot *s;
	struct informer_iter it;
	int r = object_usable(service), next = 0;

	if (r < 0 || !each)
		return r < 0 ? r : -EINVAL;
	s = snapshot_of(service->snapshot_);
	r = informer_object_namespace(service, &ns.data, &ns.length);
	if (r == 0)
		r = informer_object_name(service, &name.data, &name.length);
	if (r < 0 || name.length > NAME_MAX_BYTES)
		return r < 0 ? r : INFORMER_E_NOT_FOUND;
	snprintf(label, sizeof(label), SERVICE_LABEL "=%.*s", (int)name.length, name.data);
	r = slices_with(s, "labels", label, strlen(label), &it);
	while (r == 0 && (next = informer_next(&it, &slice)) > 0)
		r = tell_all(&slice, &ns, each, context);
	return snapshot_validate(s, r == 0 ? next : r);
}
