/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identity: a client whose identity is proved. It is reference counted, and immutable after
 * gw_identity_seal(). Equal identities of one process have the same key; decisions and limits use that key.
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
	GW_IDENTITY_NOBODY,      /* anonymous: the listener asks for no proof */
	GW_IDENTITY_PEER,        /* a Unix socket's peer, from the kernel */
	GW_IDENTITY_CERTIFICATE, /* a name in a certificate signed by a CA of the listener */
	GW_IDENTITY_TOKEN,       /* the user that a TokenReview named */
};

/* An extra attribute of a user, as authenticators report it. */
struct gw_extra {
	char *name;
	struct gw_texts values;
};

struct gw_identity {
	unsigned refs;
	enum gw_identity_kind kind;
	char *user, *uid; /* uid: "" if there is none */
	struct gw_texts groups;
	struct gw_extra *extra;
	size_t extra_count;
	uint8_t key[GW_DIGEST];
	uint64_t expires_ms; /* by the loop's clock; UINT64_MAX: never */
};

/* Returns a new identity with one reference; its key is not set. */
struct gw_identity *gw_identity_new(enum gw_identity_kind kind, const char *user, const char *uid);
/* "uid:1000". */
struct gw_identity *gw_identity_of_uid(uid_t uid);

/* Returns the values of this extra attribute, to append to; borrowed until the next call. */
struct gw_texts *gw_identity_extra(struct gw_identity *identity, const char *name);

/* Compute the key, once all other fields are set. secret: of this process */
void gw_identity_seal(struct gw_identity *identity, const uint8_t secret[GW_DIGEST]);

struct gw_identity *gw_identity_ref(struct gw_identity *identity);
/* NULL is fine. */
void gw_identity_unref(struct gw_identity *identity);

/* Approximate size in bytes. */
size_t gw_identity_size(const struct gw_identity *identity);

#endif
