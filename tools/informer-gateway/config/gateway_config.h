/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gateway configuration: the file and the flags with every default filled in. It is read once, is then
 * constant, and outlives everything made from it.
 *
 * A listener has exactly one profile, and refuses every client that the profile does not admit.
 */
#ifndef TOOLS_INFORMER_GATEWAY_CONFIG_GATEWAY_CONFIG_H
#define TOOLS_INFORMER_GATEWAY_CONFIG_GATEWAY_CONFIG_H

#include <sys/types.h>

#include "tools/informer-gateway/config/access_scope.h"
#include "writer/base/account.h"
#include "writer/base/log.h"
#include "writer/kube/server_choice.h"

enum gw_profile {
	GW_PROFILE_NONE,         /* not configured: refused */
	GW_PROFILE_UNIX,         /* a Unix socket; uids and gids, and a scope */
	GW_PROFILE_TOKENS,       /* TLS; bearer tokens; reviews decide on token and request */
	GW_PROFILE_CERTIFICATES, /* TLS; client certificates with listed names, and a scope */
	GW_PROFILE_INSECURE,     /* plain HTTP on the loopback address: any client of this machine; a scope */
};

#define GW_LISTENERS_MAX 16

struct gw_listener_config {
	char *name;   /* in audit lines, metrics and LISTEN_FDNAMES; default: the address */
	char *listen; /* "127.0.0.1:8443", "unix:/run/informer/gateway.sock" */
	char *origin; /* for messages: "FILE:LINE:COLUMN", or "--listen" */
	enum gw_profile profile;
	int inherit_fd; /* an inherited listening descriptor; -1: none */
	unsigned mode;  /* of the Unix socket's file */
	struct refs uids, gids;
	char *certificate, *key, *client_ca; /* PEM files */
	struct gw_texts client_names;
	struct gw_texts audiences; /* our own, besides the API server's */
	struct gw_scope scope;
	bool open_health; /* /livez, /readyz and /healthz need no identity */
	bool strict;      /* reads of the newest state go to the API server */
	bool narrow;      /* a LIST beyond the cached part returns the cached part */
	bool misses_wait; /* a GET that finds nothing waits 1 s for the object */
	bool pass_through;
	uint64_t deleted_for_ms;
};

struct gw_limits_config {
	unsigned connections;           /* in all */
	unsigned connections_by_client; /* of one uid or address */
	unsigned requests_by_identity;  /* in progress */
	unsigned watches_by_identity;   /* followed logs included */
	uint64_t header_timeout_ms;     /* for a request to arrive completely */
	uint64_t body_bytes;
};

struct gw_access_config {
	uint64_t keep_allowed_ms, keep_refused_ms; /* how long a decision is cached */
	uint64_t review_timeout_ms;
	unsigned decisions; /* most decisions cached */
	unsigned reviews;   /* most reviews in flight */
};

struct gw_config {
	char *socket; /* informerd's; NULL: the default */
	char *node_name; /* the node whose pods GET /pods lists */
	struct kubeconfig_choice server;
	struct gw_listener_config *listeners;
	size_t listener_count;
	struct gw_limits_config limits;
	struct gw_access_config access;
	char *audit_file; /* NULL: none; "-": standard output */
	uint64_t history_bytes; /* changes kept for watches, for each resource */
	uint64_t memory_bytes;  /* limit of all memory that clients can cause */
	uint64_t drain_ms;      /* time over which watches end after SIGTERM */
	double goaway_chance;   /* probability that an answer closes its connection */
	enum log_level log_level;
	enum log_format log_format;
};

/* Bounds; values outside are refused. */
#define GW_KEEP_MOST_MS 300000
#define GW_GOAWAY_MOST 0.02
#define GW_MEMORY_LEAST (UINT64_C(16) << 20)

/* Sets all defaults; no listener. */
void gw_config_init(struct gw_config *config);
#define GW_LISTENER_DEFAULTS {.inherit_fd = -1, .mode = 0660}
void gw_listener_config_done(struct gw_listener_config *listener);
/* Append a listener with defaults. Borrowed until the next call. NULL: there are GW_LISTENERS_MAX. */
struct gw_listener_config *gw_config_add_listener(struct gw_config *config);
/* Free what it owns, not itself. */
void gw_config_done(struct gw_config *config);

/* Parse into an enum gw_profile. */
flag_take gw_take_profile;
/* Parse octal digits, such as 0660, into an unsigned. */
flag_take gw_take_mode;

/* "tokens". */
const char *gw_profile_name(enum gw_profile profile);

/*
 * Check the configuration as a whole: each listener must have what its profile needs, and no setting that its
 * profile ignores.
 *
 * Returns  0, or -EINVAL with a message
 */
int gw_config_check(const struct gw_config *config, char **ret_error);

/* The warning to print when a listener starts: what an insecure one exposes. Allocated; NULL: none. */
char *gw_config_warning(const struct gw_listener_config *listener);

#endif
