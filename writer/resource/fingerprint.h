/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fingerprint identifies a resource's content in 24 bytes, stored beside it in the arena:
 *
 *	0   8  source     server, impersonated user, group and resource: content of another source is dropped
 *	8   8  selection  version, kind, scope, namespace, selectors, drops, metadata alone: content of
 *	                  another selection stays until a list has replaced it
 *	16  8  CA
 *
 * 8 more bytes identify the cluster (cluster_guard.h). If the cluster's id is known, these decide whether it
 * is the same cluster, and the CA may change. If the id is hidden, the CA decides. Content of another
 * cluster stays until a list has replaced it by its differences; the stored RV is not used.
 *
 * Credentials are not part of it: they are renewed often, and a list that a user may not see is refused, not
 * shortened.
 */
#ifndef WRITER_RESOURCE_FINGERPRINT_H
#define WRITER_RESOURCE_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/kube/client_config.h"
#include "writer/kube/resource_name.h"

#define FINGERPRINT_BYTES 24
#define FINGERPRINT_PART_BYTES 8
#define FINGERPRINT_CONTENT_BYTES 16 /* source and selection */
#define FINGERPRINT_CLUSTER_BYTES 8

/* Strings may be NULL, which is the same as "". */
struct fingerprint_source {
	const char *server;		/* URL */
	const void *ca;			/* the bundle's bytes; NULL: the system's */
	size_t ca_length;
	const struct kube_impersonation *as; /* NULL: nobody */
	const struct kube_resource *resource;
	const char *namespace_, *label_selector, *field_selector;
	const char *const *drops;	/* order does not count */
	size_t drop_count;
	bool metadata_only;
};

/*
 * Make the fingerprint: the first 8 bytes of BLAKE2b-192 of each part. Returns 0 or -ENOMEM. sodium_init()
 * must have been called.
 */
int fingerprint_make(const struct fingerprint_source *source, uint8_t ret_fingerprint[FINGERPRINT_BYTES]);

/* The first 8 bytes of BLAKE2b-128 of a cluster's id, never zero; zeroes for "", an unknown id. */
void fingerprint_cluster(const char *id, uint8_t ret_cluster[FINGERPRINT_CLUSTER_BYTES]);

#endif
