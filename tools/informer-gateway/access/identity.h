/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identity: who asks, once that is proved. Counted, and immutable from the first use on; all of a process
 * that are equal have the same key, by which decisions and limits go.
 *
 * Threads   the loop's
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_IDENTITY_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_IDENTITY_H

#include <stdint.h>
#include <sys/types.h>

#include "tools/informer-gateway/config/attributes.h"
#include "tools/informer-gateway/config/text_list.h"

enum gw_identity_kind {
	GW_IDENTITY_NOBODY,      /* no proof was asked for */
	GW_IDENTITY_PEER,        /* of a Unix socket, as the kernel says */
	GW_IDENTITY_CERTIFICATE, /* a name in a certificate that a CA of the listener's signed */
	GW_IDENTITY_TOKEN,       /* whom a TokenReview named */
};

/* One of the further attributes that an authenticator gives. */
struct gw_extra {
	char *name;
	struct gw_texts values;
};

struct gw_identity {
	unsigned refs;
	enum gw_identity_kind kind;
	char *user, *uid; /* uid: "" where there is none */
	struct gw_texts groups;
	struct gw_extra *extra;
	size_t extra_count;
	uint8_t key[GW_DIGEST];
	uint64_t expires_ms; /* by the loop's clock; UINT64_MAX: never */
};

/* A new one with one reference, and without key. */
struct gw_identity *gw_identity_new(enum gw_identity_kind kind, const char *user, const char *uid);
/* "uid:1000". */
struct gw_identity *gw_identity_of_uid(uid_t uid);

/* The values of this name, to be added to: lent until another name is asked for. */
struct gw_texts *gw_identity_extra(struct gw_identity *identity, const char *name);

/* Fill its key, when all is in it. secret: the process's own. */
void gw_identity_seal(struct gw_identity *identity, const uint8_t secret[GW_DIGEST]);

struct gw_identity *gw_identity_ref(struct gw_identity *identity);
/* NULL is fine. */
void gw_identity_unref(struct gw_identity *identity);

/* Bytes that it takes, about. */
size_t gw_identity_size(const struct gw_identity *identity);

#endif
