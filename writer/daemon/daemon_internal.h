/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the daemon's files share:
 *
 *	daemon.c            the daemon's life
 *	daemon_begin.c      the lock, --standby, --check
 *	daemon_estimate.c   --estimate
 *	daemon_turn.c       each turn and heartbeat
 *	daemon_resources.c  discovery and its results
 *	daemon_reload.c     SIGHUP
 *	daemon_redefined.c  resources whose definition changed
 *	daemon_room.c       memory, and readers that hold too much
 *	stat_report.c       what `informerctl stat` shows
 *	endpoints.c         /livez and /readyz
 *	metrics_report.c    /metrics
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

/* A reload that is undecided or was refused (daemon_reload.c). */
struct reload {
	enum reload_state { RELOAD_NONE, RELOAD_CHECKS, RELOAD_WAITS, RELOAD_REFUSED } state;
	char *why;          /* the reason why it waits or was refused; or NULL */
	uv_process_t check; /* the process that checks: our command line with --check */
	bool checking;      /* the process runs, or its handle is being closed */
	int words;          /* file with the output of the check */
	int64_t result;     /* exit code of the check, or negative errno */
	bool anew;          /* another SIGHUP came during the check */
	bool names_known;   /* no name has to be asked of the server */
	int text;           /* the text under check (sealed_text.h), or -1 */
	struct backoff backoff;
	struct clock_timer retry;
};

struct daemon {
	const struct options *options;
	struct config *config;
	struct reload reload;
	struct reload_record reloads;
	struct inheritance inherited; /* inherited and not in use yet */
	struct inheritance left;      /* for the next run */
	struct restart_what next;     /* how the next run begins: as this run did, or as a reload says */
	uv_async_t lock_came;         /* --standby: sent by the thread that waits for the lock … */
	int awaited;                  /* … and the result, 0 or negative errno */
	struct local_state local;
	uv_loop_t loop;
	uv_prepare_t prepare;
	uv_check_t check;
	/* active while a list waits to be applied: the poll does not wait then */
	uv_idle_t idle;
	uv_timer_t heartbeat;
	uv_timer_t watchdog;
	uv_timer_t look;      /* looks for room while something waits for it */
	uint64_t room_gained; /* bytes freed since servers were last asked again */
	/* polls of signalfds: SIGTERM, SIGINT and SIGHUP are always blocked, and wait over a restart */
	uv_poll_t ending, hangup;
	int ending_fd, hangup_fd;
	struct clock_uv clock;

	/* put commits into the readers' queues; made before the first commit */
	struct fan_out *fan_out;
	struct consumers *consumers;
	struct broker *broker;
	struct http_server *http; /* NULL: no metrics are configured */
	struct kube_client_config kube;
	struct proto_schema *schema;
	struct proto_schema *read_schema; /* read from a file, or NULL */
	struct transport *transport;
	struct cluster_guard guard;
	struct kube_pem ca;
	struct known_names known;
	struct redefinition_question redefinition;
	char *redefinition_refused; /* the last logged reason why a redefined resource cannot be
				       cached; or NULL */
	struct discovery *discovery;
	struct backoff discovery_backoff;
	struct clock_timer discovery_retry;
	char *discovery_error;		/* why there are no resources yet; or NULL */
	/* the last logged list of optional resources that the server lacks; or NULL */
	char *absent_told;
	struct discovery_memory absent_memory;
	bool discovered;  /* every name but optional ones was known once */
	bool names_known; /* all names that the server has are known */
	bool foreseen;    /* names are known, but their resources could not be added: there
			     is no arena, or no room in it */

	struct applier *applier;
	struct cached_resource **cached; /* one per entry of config->resources; NULL: not resolved yet */
	size_t cached_count;		/* n_resources */
	char *wanted[CONFIG_MAX_RESOURCES]; /* resources on demand that readers asked for */
	size_t wanted_count;

	uint64_t started_boot_ns, read_wall_ns;
	bool ready;
	unsigned unready_beats; /* heartbeats before */
	bool refused_told;
	bool full_told; /* it was logged what keeps the arena from growing, for what waits now */
	/* every resource was complete once: what ready means for systemd, /readyz and metrics */
	bool was_synced;
	bool stopping;
	bool again; /* after the end, restart */
	int exit_code;
	char status_text[512]; /* sent to systemd last */
};

/* End the loop. The first exit code counts. */
static inline void
daemon_stop(struct daemon *d, int exit_code)
{
	if (!d->stopping)
		d->exit_code = exit_code;
	d->stopping = true;
	uv_stop(&d->loop);
}

/* Begin or continue to resolve the configured names. Logs, and repeats by itself. */
void daemon_discover(struct daemon *d);

/* Make the spec of an entry. `resolved` is of known_names_of(). Returns as resource_spec_new(), -ENOMEM. */
int daemon_make_spec(struct daemon *d, const struct kube_resource *const *resolved, size_t entry,
		     struct resource_spec **ret_spec, char **ret_error);

/* Watch which cluster answers. Called before the first daemon_discover(). */
void daemon_guard_cluster(struct daemon *d);
/*
 * Put the server's release into the arena once both are there: a standby knows the release before it has an
 * arena.
 */
void daemon_publish_release(struct daemon *d);

/*
 * Get the lock (d->inherited), or do what --check or --estimate asks. Returns 0; -ECANCELED: stopped, with
 * the exit code; other negative errno, with message.
 */
int daemon_begin(struct daemon *d, char **ret_error);

/*
 * --estimate: ask for a sample of each resource, print the estimate, and stop the daemon with the exit code.
 * Needs the resources' names, and uses the heartbeat's timer as daemon_wait_some() does.
 * optional  by entry: the server may lack it; in the configuration all entries are optional now
 */
void daemon_estimate(struct daemon *d, const bool optional[]);

/*
 * Run the loop for ms milliseconds. It uses the heartbeat's timer, so only before the first beat. False: the
 * daemon is to end.
 */
bool daemon_wait_some(struct daemon *d, unsigned ms);

/* Handle SIGHUP from now on, also one that came before (daemon_reload.c). A second call is fine. */
void daemon_take_hangups(struct daemon *d);
/* Before a restart for another reason than SIGHUP: raise SIGHUP for the next run if a reload is undecided. */
void daemon_reload_again(const struct daemon *d);
/* Give up an undecided reload, at the end. */
void daemon_reload_end(struct daemon *d);

/* Make room for changes from now on; needs the broker. daemon_stop_room() ends it. */
void daemon_start_room(struct daemon *d);
void daemon_stop_room(struct daemon *d);
/* Called with each heartbeat between the two. */
void daemon_look_after_room(struct daemon *d);

/* Ask the server what the resources to recheck are now, if any and if it is time (daemon_redefined.c). */
void daemon_ask_about_redefined(struct daemon *d);
/* Cancel such questions, at the end, before the transport is freed. */
void daemon_forget_redefined(struct daemon *d);

/* Tell the store, and through it readers, whether a configured resource is not resolved yet. */
void daemon_tell_expected(struct daemon *d);

/* A reader looks at this resource ("deployments.apps"; not terminated): start it if it is on demand. */
void daemon_want(void *daemon, const char *resource, size_t length);

/* The daemon's report. Before there is an arena: reloads and the server. NULL: no memory. */
cJSON *report_tree(const struct daemon *d);

/* The answer to STAT: the report as JSON, schema 1; malloc'ed. NULL: no memory. */
char *stat_report(void *daemon);

/* The text of /metrics; malloc'ed. NULL: no memory. */
char *metrics_report(const struct daemon *d, size_t *ret_length);

/*
 * Serve /metrics, /livez and /readyz, if the configuration wants them and they are not served yet. Returns 0;
 * -EADDRINUSE or other negative errno, with message.
 */
int endpoints_start(struct daemon *d, char **ret_error);

/* "pods: 1200 objects, watching; services: listing, 300 so far": for systemd's STATUS=. */
void stat_summary(const struct daemon *d, char *text, size_t size);

/* The state of one resource in one word: synced, listing, backing-off, refused, idle, waiting. */
const char *stat_word(const struct cached_resource *c);

#endif
