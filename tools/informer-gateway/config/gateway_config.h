/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuration of the gateway: what the file and the flags say, with every default filled in. It is read
 * once and not changed again; it outlives whatever was made by it.
 *
 * A listener has exactly one profile, and refuses whom that does not let in.
 */
#ifndef TOOLS_INFORMER_GATEWAY_CONFIG_GATEWAY_CONFIG_H
#define TOOLS_INFORMER_GATEWAY_CONFIG_GATEWAY_CONFIG_H

#include <sys/types.h>

#include "tools/informer-gateway/config/access_scope.h"
#include "writer/base/log.h"
#include "writer/kube/server_choice.h"

enum gw_profile {
	GW_PROFILE_NONE,         /* not said: refused */
	GW_PROFILE_UNIX,         /* a Unix socket; uids and gids, and a scope */
	GW_PROFILE_TOKENS,       /* TLS; bearer tokens, asked about at the API server, as is each request */
	GW_PROFILE_CERTIFICATES, /* TLS; client certificates with certain names, and a scope */
	GW_PROFILE_INSECURE,     /* plain HTTP on the loopback address: whoever is on this machine; a scope */
};

#define GW_LISTENERS_MAX 16

struct gw_listener_config {
	char *name;   /* in audit lines, metrics and LISTEN_FDNAMES; the address when nobody gave one */
	char *listen; /* "127.0.0.1:8443", "unix:/run/informer/gateway.sock" */
	char *origin; /* for messages: "FILE:LINE:COLUMN", or "--listen" */
	enum gw_profile profile;
	int inherit_fd; /* a descriptor that listens already; -1: none */
	unsigned mode;  /* of a Unix socket's file */
	struct gw_ids {
		uint32_t *items;
		size_t count;
	} uids, gids;
	char *certificate, *key, *client_ca; /* PEM files */
	struct gw_texts client_names;
	struct gw_texts audiences; /* our own; the API server's comes by itself */
	struct gw_scope scope;
	bool open_health; /* /livez, /readyz and /healthz without identity */
	bool strict;      /* reads that need the newest state are the API server's */
	bool narrow;	  /* a LIST of more than the part that is cached is one of the part */
	bool misses_wait; /* a GET that finds nothing waits a second for the object */
	bool pass_through;
	uint64_t deleted_for_ms;
};

struct gw_limits_config {
	unsigned connections;           /* in all */
	unsigned connections_by_client; /* of one uid or address */
	unsigned requests_by_identity;  /* under way */
	unsigned watches_by_identity;  /* and logs that are followed */
	uint64_t header_timeout_ms; /* for a request to be whole */
	uint64_t body_bytes;
};

struct gw_access_config {
	uint64_t keep_allowed_ms, keep_refused_ms; /* how long a decision holds */
	uint64_t review_timeout_ms;
	unsigned decisions; /* that are remembered */
	unsigned reviews;   /* under way at a time */
};

struct gw_config {
	char *socket; /* informerd's; NULL: the usual one */
	struct kubeconfig_choice server;
	struct gw_listener_config *listeners;
	size_t listener_count;
	struct gw_limits_config limits;
	struct gw_access_config access;
	char *audit_file; /* NULL: none; "-": standard output */
	uint64_t history_bytes; /* of changes, kept for watches of each resource */
	uint64_t memory_bytes;  /* that clients can make it hold, in all */
	uint64_t drain_ms;      /* over which watches end after SIGTERM */
	double goaway_chance;   /* that an answer closes its connection */
	enum log_level log_level;
};

/* Bounds; what lies outside is refused. */
#define GW_KEEP_MOST_MS 300000
#define GW_GOAWAY_MOST 0.02
#define GW_MEMORY_LEAST (UINT64_C(16) << 20)

/* All defaults, no listener. */
void gw_config_init(struct gw_config *config);
#define GW_LISTENER_DEFAULTS {.inherit_fd = -1, .mode = 0660}
void gw_listener_config_done(struct gw_listener_config *listener);
/* A listener with its defaults, appended; borrowed until the next. NULL: there are GW_LISTENERS_MAX. */
struct gw_listener_config *gw_config_add_listener(struct gw_config *config);
/* Free what it owns, not itself. */
void gw_config_done(struct gw_config *config);

bool gw_ids_have(const struct gw_ids *ids, uint32_t id);
void gw_ids_add(struct gw_ids *ids, uint32_t id);
/* A user's or a group's name, or number, for a struct gw_ids. */
flag_take gw_take_uid, gw_take_gid;

/* For an enum gw_profile. */
flag_take gw_take_profile;
/* Octal, as 0660, for an unsigned. */
flag_take gw_take_mode;

/* "tokens". */
const char *gw_profile_name(enum gw_profile profile);

/*
 * What the configuration as a whole must be: each listener has what its profile needs, and nothing that
 * belongs to another one's, lest somebody think that it counts.
 *
 * Returns  0, or -EINVAL with a message
 */
int gw_config_check(const struct gw_config *config, char **ret_error);

/*
 * What is to be warned of when a listener starts: what an insecure one gives away. An allocated line; NULL:
 * nothing.
 */
char *gw_config_warning(const struct gw_listener_config *listener);

#endif
