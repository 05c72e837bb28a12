/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the daemon share: daemon.c (life), daemon_begin.c (the lock, --standby, --check),
 * daemon_turn.c (each turn and heartbeat), daemon_resources.c (discovery and what follows from it),
 * daemon_reload.c (SIGHUP), daemon_redefined.c (definitions that are other ones now), daemon_room.c (memory,
 * and readers that hold too much), stat_report.c (what `informerctl stat` shows), endpoints.c (/livez and
 * /readyz), metrics_report.c (/metrics).
 */
#ifndef WRITER_DAEMON_DAEMON_INTERNAL_H
#define WRITER_DAEMON_DAEMON_INTERNAL_H

#include <uv.h>

#include "writer/base/backoff.h"
#include "writer/serve/broker.h"
#include "writer/resource/cached_resource.h"
#include "writer/base/clock_uv.h"
#include "writer/resource/cluster_guard.h"
#include "writer/serve/consumers.h"
#include "writer/daemon/daemon.h"
#include "writer/serve/fan_out.h"
#include "writer/daemon/local_state.h"
#include "writer/base/http_server.h"
#include "writer/kube/discovery.h"
#include "writer/resource/known_names.h"
#include "writer/resource/redefinition.h"
#include "writer/daemon/restart.h"

/* A reload that is not decided, or was refused (daemon_reload.c). */
struct reload {
	enum reload_state { RELOAD_NONE, RELOAD_CHECKS, RELOAD_WAITS, RELOAD_REFUSED } state;
	char *why;		/* it waits, or was refused; or NULL */
	uv_process_t check;	/* the command line with --check … */
	bool checking;		/* … which runs, or its handle is being closed … */
	int words;		/* … what it writes … */
	int64_t result;		/* … and its exit code, or negative errno */
	bool anew;		/* another SIGHUP came meanwhile */
	bool names_known;	/* the server need not be asked for a name */
	int text;		/* what is looked at (sealed_text.h), or -1 */
	struct backoff backoff;
	struct clock_timer retry;
};

struct daemon {
	const struct options *options;
	struct config *config;
	struct reload reload;
	struct reload_record reloads;
	struct inheritance inherited;	/* what is not in use yet */
	struct inheritance left;	/* for the next run, … */
	struct restart_what next;	/* … which begins by this: as this run did, or as a reload says */
	uv_async_t lock_came;		/* --standby: from the thread that waits for the lock … */
	int awaited;			/* … and what came of it, 0 or negative errno */
	struct local_state local;
	uv_loop_t loop;
	uv_prepare_t prepare;
	uv_check_t check;
	/* active while a list waits to be applied: then the poll does not wait */
	uv_idle_t idle;
	uv_timer_t heartbeat;
	uv_timer_t look;		/* for room, while something waits for some */
	uint64_t room_gained;		/* bytes, since servers were asked again last */
	/* of signalfds: SIGTERM, SIGINT and SIGHUP are blocked at all times, and wait over a restart */
	uv_poll_t ending, hangup;
	int ending_fd, hangup_fd;
	struct clock_uv clock;

	/* what commits change goes to the readers' queues; before anything is committed */
	struct fan_out *fan_out;
	struct consumers *consumers;
	struct broker *broker;
	struct http_server *http;	/* NULL: nobody wants metrics */
	struct kube_client_config kube;
	struct proto_schema *schema;
	struct proto_schema *read_schema; /* of a file, or NULL */
	struct transport *transport;
	struct cluster_guard guard;
	struct kube_pem ca;
	struct known_names known;
	struct redefinition_question redefinition;
	char *redefinition_refused;	/* why one cannot be cached, as it was logged last; or NULL */
	struct discovery *discovery;
	struct backoff discovery_backoff;
	struct clock_timer discovery_retry;
	char *discovery_error;		/* why there are no resources yet; or NULL */
	/* which optional resources the server lacks, as it was logged last; or NULL */
	char *absent_told;
	struct discovery_memory absent_memory;
	bool discovered;		/* every name was known once, but for optional ones */
	bool names_known;		/* all that the server has */
	bool foreseen;			/* names are known whose resources could not be added yet: there is no
					   arena, or no room in it */

	struct applier *applier;
	struct cached_resource **cached; /* one an entry of config->resources; NULL: not resolved yet */
	size_t cached_count;		/* n_resources */
	char *wanted[CONFIG_MAX_RESOURCES]; /* resources on demand that readers asked for */
	size_t wanted_count;

	uint64_t started_boot_ns, read_wall_ns;
	bool ready;			/* told */
	bool refused_told;
	/* every resource, once: what ready means, for systemd, /readyz and metrics */
	bool was_synced;
	bool stopping;
	bool again;			/* end, and restart (restart.h) */
	int exit_code;
	char status_text[512];		/* told to systemd last */
};

/* End the loop; the first code counts. */
static inline void
daemon_stop(struct daemon *d, int exit_code)
{
	if (!d->stopping)
		d->exit_code = exit_code;
	d->stopping = true;
	uv_stop(&d->loop);
}

/* Begin, or go on, to find out what the configured names mean. Logs, and tries again by itself. */
void daemon_discover(struct daemon *d);

/* Watch over which cluster answers; before the first daemon_discover(). */
void daemon_guard_cluster(struct daemon *d);
/* Its release goes into the arena, once both are there: a successor knows it before it has an arena. */
void daemon_publish_release(struct daemon *d);

/*
 * Get the lock (d->inherited), or do what --check asks for. 0; -ECANCELED: stopped, with the exit code;
 * other negative errno, with message.
 */
int daemon_begin(struct daemon *d, char **ret_error);

/* Let the loop run for ms, by the heartbeat's timer: only before the first beat. False: told to end. */
bool daemon_wait_some(struct daemon *d, unsigned ms);

/* SIGHUP is heard from now on, also one that came before (daemon_reload.c). Again is fine. */
void daemon_take_hangups(struct daemon *d);
/* Before a restart that no SIGHUP asked for: raise SIGHUP for the next run if a reload is not decided. */
void daemon_reload_again(const struct daemon *d);
/* Give up a reload that is not decided; at the end. */
void daemon_reload_end(struct daemon *d);

/* Once there is a broker: see to it that there is room for changes. Ends with daemon_stop_room(). */
void daemon_start_room(struct daemon *d);
void daemon_stop_room(struct daemon *d);
/* With each heartbeat meanwhile. */
void daemon_look_after_room(struct daemon *d);

/* Ask anew what doubted resources are, if there are any and it is time (daemon_redefined.c). */
void daemon_ask_about_redefined(struct daemon *d);
/* Nothing of that is under way any more; at the end, before the transport goes. */
void daemon_forget_redefined(struct daemon *d);

/* Tell the store, and so readers, whether something is to be cached of which nobody knows yet what it is. */
void daemon_tell_expected(struct daemon *d);

/* A reader looks at this resource ("deployments.apps"; not terminated): one that is on demand begins. */
void daemon_want(void *daemon, const char *resource, size_t length);

/* What is told of the daemon; before there is an arena, of reloads and the server. NULL without memory. */
cJSON *report_tree(const struct daemon *d);

/* The answer to STAT: that as JSON, schema 1; malloc'ed, NULL without memory. */
char *stat_report(void *daemon);

/* The text of /metrics; malloc'ed, NULL without memory. */
char *metrics_report(const struct daemon *d, size_t *ret_length);

/*
 * Serve /metrics, /livez and /readyz, if the configuration wants them and it is not done yet. 0; -EADDRINUSE,
 * other negative errno, with message.
 */
int endpoints_start(struct daemon *d, char **ret_error);

/* "pods: 1200 objects, watching; services: listing, 300 so far": for systemd's STATUS=. */
void stat_summary(const struct daemon *d, char *text, size_t size);

/* One resource in one word: synced, listing, backing-off, refused, idle, waiting. */
const char *stat_word(const struct cached_resource *c);

#endif
