/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures as the API server words them: the Status document of meta/v1.
 *
 * Handlers fill a sim_status and return its negative code's presence to the
 * HTTP layer, which prints it; a watch puts it into an ERROR event.
 */
#ifndef TOOLS_INFORMER_SIM_STATUS_DOCUMENT_H
#define TOOLS_INFORMER_SIM_STATUS_DOCUMENT_H

#include "tools/informer-sim/buf.h"
#include "tools/informer-sim/served_resource.h"

#define SIM_CAUSES_MAX 3

struct sim_cause {
	const char *reason;
	char *message;
	const char *field; /* or NULL */
};

struct sim_status {
	int code;
	const char *reason; /* "" for none */
	char *message;
	bool has_details;
	char *name; /* of the object, in details; or NULL */
	const char *group;
	const char *kind;
	struct sim_cause causes[SIM_CAUSES_MAX];
	unsigned cause_count;
	unsigned retry_after; /* seconds, 0 for none */
	char *next_token;     /* metadata.continue, or NULL */
};

/*
 * Fill code, reason and message; what was there before is freed. Returns -EINVAL, so that a handler can
 * return it.
 */
int
sim_status_set(struct sim_status *status, int code, const char *reason, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Add details about an object of a resource; kind NULL: the resource's name. */
void sim_status_about(struct sim_status *status, const struct sim_resource *resource, const char *kind,
		      const char *name);
void
sim_status_cause(struct sim_status *status, const char *reason, const char *field, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void
sim_status_print(const struct sim_status *status, struct sim_buf *buf);
/* The same as a protobuf document. */
void
sim_status_encode(const struct sim_status *status, struct sim_buf *buf);
/* Cleanup function. */
void
sim_status_done(struct sim_status *status);

/* The failures that come from several places. All return -EINVAL. */
int
sim_status_not_found(struct sim_status *status, const struct sim_resource *resource, const char *name);
int
sim_status_conflict(struct sim_status *status, const struct sim_resource *resource, const char *name,
		    const char *why);
int
sim_status_too_large_rv(struct sim_status *status, uint64_t asked, uint64_t current);
/* A field of an object that is not as it must be: 422. */
int
sim_status_invalid(struct sim_status *status, const struct sim_resource *resource, const char *name,
		   const char *cause, const char *field, const char *text);

#endif
