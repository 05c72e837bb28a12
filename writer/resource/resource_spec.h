/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resource spec holds everything that follows from a configuration entry once its name's meaning is known,
 * and that can be wrong. It is made before any other change, at the start and at a reload.
 */
#ifndef WRITER_RESOURCE_RESOURCE_SPEC_H
#define WRITER_RESOURCE_RESOURCE_SPEC_H

#include "writer/config/config.h"
#include "writer/decode/decoder.h"
#include "writer/resource/fingerprint.h"
#include "writer/kube/transport.h"
#include "writer/reflect/lister_watcher.h"
#include "writer/reflect/source.h"

/* It owns all its fields; none refers to the configuration. */
struct resource_spec {
	struct kube_resource kube;
	char *name;			/* "pods", "deployments.apps in team-a": for messages and stat */
	char *group_name;		/* "pods", "deployments.apps" */
	char *api_version;              /* "v1", "apps/v1" */
	char *refusal_hint;             /* a sentence with the RBAC rule that it needs, or NULL */
	bool metadata_only;
	struct decoder_schema *schema; /* what is stored of its objects */
	struct kube_lister_watcher lister_watcher;
	char *descriptor;		/* LAYOUT.md, DESCRIPTOR */
	uint8_t fingerprint[FINGERPRINT_BYTES];
};

/* What all resources share; borrowed. */
struct resource_spec_world {
	const struct config *config;
	struct transport *transport;
	const char *server;		/* URL */
	const void *ca;
	size_t ca_length;
	const struct kube_impersonation *as;
};

/*
 * indexes   those that the configuration declares for the resource
 * Returns   0 with *ret; -EINVAL with message (an invalid index or drop); other negative errno
 */
int resource_spec_new(const struct resource_spec_world *world, const struct kube_resource *kube,
		      const struct config_resource *entry, const struct config_index *const *indexes,
		      size_t index_count, struct resource_spec **ret, char **ret_error);
/* A source with what follows from the spec: name, types, lister_watcher, schema. Borrows of the spec. */
struct source resource_spec_source(struct resource_spec *spec);
/* NULL is fine. */
void resource_spec_free(struct resource_spec *spec);

#endif
