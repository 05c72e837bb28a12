/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fingerprint: what a resource's content is, as 24 bytes that stand beside it in the arena. Another server,
 * impersonated user, resource, namespace, selector, list of drops or metadata alone is other content: it
 * goes, and one lists.
 *
 * The last 8 of them are of the CA alone, and beside it stand 8 bytes for the cluster (cluster_guard.h).
 * Where the cluster's id is known that says whether it is the same one, and a CA may be replaced; where it is
 * hidden the CA must do. With another cluster the content stays until a list has replaced it, as a
 * difference; the stored RV means nothing.
 *
 * Credentials are not in it: they are renewed all the time, and what a user may not see is refused, not left
 * out.
 */
#ifndef WRITER_RESOURCE_FINGERPRINT_H
#define WRITER_RESOURCE_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/kube/client_config.h"
#include "writer/kube/resource_name.h"

#define FINGERPRINT_BYTES 24
#define FINGERPRINT_CONTENT_BYTES 16 /* of those: without the CA */
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
 * The first bytes of BLAKE2b-192 of the content and of BLAKE2b-192 of the CA. Returns 0 or -ENOMEM.
 * sodium_init() must have been called.
 */
int fingerprint_make(const struct fingerprint_source *source, uint8_t ret_fingerprint[FINGERPRINT_BYTES]);
/* As it was when it was one hash of all, the CA too: such arenas are adopted. */
int fingerprint_make_former(const struct fingerprint_source *source,
			    uint8_t ret_fingerprint[FINGERPRINT_BYTES]);

/* The first 8 bytes of BLAKE2b-128 of a cluster's id, never zero; of "", which is not known, zeroes. */
void fingerprint_cluster(const char *id, uint8_t ret_cluster[FINGERPRINT_CLUSTER_BYTES]);

#endif
