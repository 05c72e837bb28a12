/*
 * Fingerprint: where a resource's content comes from, as 32 bytes that stand beside it in the arena. Another server, CA,
 * resource, namespace, selector, list of drops or metadata alone is other content: then a stored RV means nothing and one lists.
 */
#ifndef WRITER_FINGERPRINT_H
#define WRITER_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/kube/resource_name.h"

#define FINGERPRINT_BYTES 32

/* Strings may be NULL, which is the same as "". */
struct fingerprint_source {
	const char *server;		/* URL */
	const void *ca;			/* the bundle's bytes; NULL: the system's */
	size_t ca_length;
	const struct kube_resource *resource;
	const char *namespace_, *label_selector, *field_selector;
	const char *const *drops;	/* order does not count */
	size_t drop_count;
	bool metadata_only;
};

/* BLAKE2b-256. Returns 0 or -ENOMEM. sodium_init() must have been called. */
int fingerprint_make(const struct fingerprint_source *source, uint8_t ret_fingerprint[FINGERPRINT_BYTES]);

#endif
