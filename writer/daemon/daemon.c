/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens and closes everything, in order. daemon_begin.c gets the lock, daemon_turn.c runs each turn,
 * daemon_resources.c finds the resources, daemon_reload.c reloads.
 */
#include "writer/daemon/daemon_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "writer/base/descriptor_limit.h"
#include "writer/base/log.h"
#include "writer/base/loop_room.h"
#include "writer/base/message.h"
#include "writer/base/notify.h"
#include "writer/base/watchdog.h"
#include "writer/daemon/daemon_turn.h"
#include "writer/daemon/limits.h"
#include "writer/decode/schema_file.h"
#include "writer/kube/kubeconfig_unfinished.h"
#include "shm-layout/time_ns.h"

#define LOOP_DESCRIPTORS 12u
/* Upper bounds: the descriptors of one reader, and all others. */
#define READER_DESCRIPTORS 6u
#define OTHER_DESCRIPTORS 256u
/* The first and the longest wait for files. */
#define FILES_SOON_MS 200u
#define FILES_AGAIN_MS 2000u

/* ---- signals ---------------------------------------------------------------------- */

static void
on_ending(uv_poll_t *handle, int status, int events)
{
	struct daemon *d = handle->data;
	struct signalfd_siginfo signal;

	(void)status;
	(void)events;
	if (read(d->ending_fd, &signal, sizeof(signal)) <= 0)
		return;
	log_info("%s: finishing", signal.ssi_signo == SIGINT ? "interrupted" : "asked to end");
	d->again = false;
	daemon_stop(d, DAEMON_OK);
}

/* ---- readers --------------------------------------------------------------------- */

static int
start_events(struct daemon *d)
{
	int r = fan_out_new(d->local.store, limits_of_queues(d->config), &d->fan_out);

	return r < 0 ? r : consumers_new(d->local.store, limits_of_consumers(d->config), &d->consumers);
}

static int
start_broker(struct daemon *d, char **ret_error)
{
	struct broker_options options = {
		.socket_path = d->config->socket,
		.allow_uids = d->config->allow_uids.at,
		.n_allow_uids = d->config->allow_uids.count,
		.allow_gids = d->config->allow_gids.at,
		.n_allow_gids = d->config->allow_gids.count,
		.max_readers = d->config->max_readers,
		.queue_memory = d->config->max_queue_memory,
		.listener = d->inherited.listener,
		.source = {&d->local.arena, d->local.pins, d->fan_out, d->consumers},
		.wanted = daemon_want,
		.report = stat_report,
		.context = d,
	};
	int r = broker_new(&d->loop, &options, &d->broker, ret_error);

	d->inherited.listener = 0;
	if (r == 0) {
		store_on_commit(d->local.store, broker_wake, d->broker);
		daemon_start_room(d);
	}
	return r;
}

/* ---- start ------------------------------------------------------------------------ */

static int
make_transport(struct daemon *d, char **ret_error)
{
	int r;

	r = kubeconfig_load(&d->config->choice, &d->kube, ret_error);
	if (r == 0)
		r = kube_pem_read(&d->kube.ca, &d->ca, ret_error);
	if (r == 0)
		r = transport_new(&d->loop, &d->kube, &d->transport, ret_error);
	return r;
}

/* Results of calls that cannot fail are ignored. Returns 0, or negative errno with everything closed. */
static int
start_loop(struct daemon *d)
{
	/* libuv calls abort() if some of its own descriptors cannot be opened. */
	int r = descriptor_limit_ask(LOOP_DESCRIPTORS);
	unsigned readers = d->config->max_readers ? d->config->max_readers : CONFIG_DEFAULT_MAX_READERS;
	sigset_t hangup, ending;

	if (r == 0)
		r = uv_loop_init(&d->loop);
	if (r < 0)
		return r;
	sigemptyset(&hangup);
	sigaddset(&hangup, SIGHUP);
	sigemptyset(&ending);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGINT);
	d->hangup_fd = signalfd(-1, &hangup, SFD_CLOEXEC | SFD_NONBLOCK);
	d->ending_fd = signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
	if (d->hangup_fd < 0 || d->ending_fd < 0)
		r = -errno;
	if (r == 0)
		r = uv_poll_init(&d->loop, &d->ending, d->ending_fd);
	if (r == 0)
		r = uv_poll_init(&d->loop, &d->hangup, d->hangup_fd);
	/* Allocate the loop's table now: polling a new descriptor then needs no memory. */
	if (r == 0)
		r = loop_room_make(&d->loop, readers * READER_DESCRIPTORS + OTHER_DESCRIPTORS, d->hangup_fd);
	if (r < 0) {
		uv_loop_close(&d->loop);
		if (d->hangup_fd >= 0)
			close(d->hangup_fd);
		if (d->ending_fd >= 0)
			close(d->ending_fd);
		return r;
	}
	clock_uv_init(&d->clock, &d->loop);
	uv_prepare_init(&d->loop, &d->prepare);
	uv_check_init(&d->loop, &d->check);
	uv_idle_init(&d->loop, &d->idle);
	uv_timer_init(&d->loop, &d->heartbeat);
	watchdog_begin(&d->loop, &d->watchdog);
	uv_timer_init(&d->loop, &d->look);
	d->prepare.data = d->check.data = d->idle.data = d->heartbeat.data = d->look.data =
		d->ending.data = d->hangup.data = d;
	uv_poll_start(&d->ending, UV_READABLE, on_ending);
	return 0;
}

static int
read_schema(struct daemon *d, char **ret_error)
{
	_cleanup_(message_freep) char *installed = schema_file_installed();
	int r = schema_file_choose(d->config->schema, installed, &d->read_schema, ret_error);

	d->schema = d->read_schema ? d->read_schema : proto_schema_builtin();
	return r;
}

static void
forget_files(struct daemon *d)
{
	transport_free(d->transport);
	d->transport = NULL;
	kube_client_config_done(&d->kube);
	kube_pem_done(&d->ca);
}

/* True: the kubeconfig may come, which is logged once. --check does not wait. */
static bool
kubeconfig_may_come(const struct daemon *d, bool *told)
{
	_cleanup_(message_freep) char *path = NULL;
	const char *why = d->options->check ? NULL
					    : kubeconfig_unfinished(&d->config->choice,
								    time_ns(CLOCK_REALTIME), &path);

	if (why && !*told)
		log_warning("waiting for the kubeconfig %s: %s", path, why);
	*told |= why != NULL;
	return why != NULL;
}

/*
 * Read kubeconfig, certificates and schema before anything is touched. A first start waits for a named
 * kubeconfig that is not written yet, and fails if a file is bad. A restarted run retries every
 * FILES_AGAIN_MS. It releases the lock first: readers then use the arena as that of a dead writer, and a
 * standby may take over.
 */
static int
read_files(struct daemon *d, char **ret_error)
{
	bool restarted = d->inherited.lock.fd > 0, told = false;
	unsigned wait = restarted ? FILES_AGAIN_MS : FILES_SOON_MS;

	for (;;) {
		_cleanup_(message_freep) char *error = NULL;
		int r = make_transport(d, &error);

		if (r == 0)
			r = read_schema(d, &error);
		if (r == 0)
			return 0;
		if (!restarted && !kubeconfig_may_come(d, &told))
			return message_set(ret_error, r, "%s", error ? error : strerror(-r));
		if (restarted)
			log_error("%s; tried again in %u s", error ? error : strerror(-r),
				  FILES_AGAIN_MS / 1000);
		forget_files(d);
		inheritance_release(&d->inherited);
		notify(wait < FILES_AGAIN_MS ? "EXTEND_TIMEOUT_USEC=30000000"
					     : "STATUS=waiting for the files of the configuration\nREADY=1");
		daemon_take_hangups(d);
		if (!daemon_wait_some(d, wait))
			return -ECANCELED;
		wait = 2 * wait < FILES_AGAIN_MS ? 2 * wait : FILES_AGAIN_MS;
	}
}

static int
start(struct daemon *d, char **ret_error)
{
	int r = read_files(d, ret_error);

	if (r == 0)
		r = local_state_prepare(&d->local, d->config, ret_error);
	if (r == 0 && d->inherited.lock.fd <= 0) /* a restarted run's start has warned */
		local_state_warn_of_disk(&d->local, d->config);
	if (r == 0) {
		daemon_guard_cluster(d);
		r = daemon_begin(d, ret_error);
	}
	if (r == 0) {
		r = local_state_open(&d->local, d->config, d->inherited.lock, ret_error);
		d->inherited.lock.fd = 0;
	}
	if (r < 0)
		return r;
	daemon_publish_release(d);
	daemon_beat(d);
	d->applier = applier_new(d->local.store, &d->clock.clock);
	d->cached_count = d->config->n_resources;
	d->cached = calloc(d->cached_count ? d->cached_count : 1, sizeof(struct cached_resource *));
	if (!d->applier || !d->cached)
		return -ENOMEM;
	r = start_events(d);
	if (r == 0) {
		daemon_tell_expected(d);
		/* before readers attach; without room, the next heartbeat commits */
		store_commit(d->local.store);
		r = start_broker(d, ret_error);
	}
	if (r == 0)
		r = endpoints_start(d, ret_error);
	if (r < 0)
		return r;
	daemon_start_turns(d);
	log_info("informerd %s: %s (%s), socket %s", INFORMER_VERSION, d->kube.server, d->kube.origin,
		 d->config->socket);
	daemon_discover(d);
	daemon_take_hangups(d);
	return 0;
}

/* ---- end --------------------------------------------------------------------------- */

static void
close_handle(uv_handle_t *handle, void *unused)
{
	(void)unused;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

/* Keep lock and listener for the next run. Without a free descriptor the next run makes them anew. */
static void
keep(struct daemon *d)
{
	int lock = d->local.lock.fd > 0 ? lock_share(&d->local.lock) : 0;
	int listener = d->broker ? broker_pass_on(d->broker) : 0;

	d->left = (struct inheritance){{lock < 0 ? 0 : lock}, listener < 0 ? 0 : listener, d->reloads};
	if (!d->next.from_disk)
		daemon_reload_again(d);
}

/*
 * Apply and commit what was received, then close everything, users before what they use. The loop closes the
 * handles of broker and transport before it is closed itself.
 */
static void
finish(struct daemon *d)
{
	if (d->again)
		keep(d);
	else
		notify("STOPPING=1");
	http_server_free(d->http);
	daemon_reload_end(d);
	daemon_stop_room(d);
	clock_clear(&d->clock.clock, &d->discovery_retry);
	discovery_free(d->discovery);
	daemon_forget_redefined(d);
	if (d->applier && d->exit_code == DAEMON_OK)
		applier_flush(d->applier);
	for (size_t i = 0; d->cached && i < d->cached_count; i++)
		cached_resource_free(d->cached[i]);
	free(d->cached);
	d->cached = NULL;
	while (d->wanted_count > 0)
		free(d->wanted[--d->wanted_count]);
	applier_free(d->applier);
	d->applier = NULL;
	cluster_guard_done(&d->guard);
	transport_free(d->transport);
	if (d->local.store) {
		store_on_commit(d->local.store, NULL, NULL);
		/* the commits below must not overwrite what readers still read in this arena */
		store_keep(d->local.store);
	}
	if (d->broker)
		broker_free(d->broker);
	/* commit the last acknowledgements of the readers, which are gone */
	daemon_age_events(d);
	consumers_free(d->consumers);
	fan_out_free(d->fan_out);
	clock_uv_close(&d->clock);
	uv_close((uv_handle_t *)&d->prepare, NULL);
	uv_close((uv_handle_t *)&d->check, NULL);
	uv_close((uv_handle_t *)&d->idle, NULL);
	uv_close((uv_handle_t *)&d->heartbeat, NULL);
	uv_close((uv_handle_t *)&d->watchdog, NULL);
	uv_close((uv_handle_t *)&d->look, NULL);
	uv_close((uv_handle_t *)&d->ending, NULL);
	uv_close((uv_handle_t *)&d->hangup, NULL);
	uv_run(&d->loop, UV_RUN_DEFAULT);
	uv_walk(&d->loop, close_handle, NULL);
	uv_run(&d->loop, UV_RUN_DEFAULT);
	uv_loop_close(&d->loop);
	close(d->hangup_fd);
	close(d->ending_fd);
	local_state_close(&d->local);
	inheritance_release(&d->inherited);
	kube_client_config_done(&d->kube);
	proto_schema_free(d->read_schema);
	kube_pem_done(&d->ca);
	known_names_done(&d->known);
	free(d->discovery_error);
	free(d->absent_told);
	discovery_memory_done(&d->absent_memory);
}

int
daemon_run(const struct options *options, int text, struct config *config)
{
	struct daemon *d = calloc(1, sizeof(*d));
	_cleanup_(message_freep) char *error = NULL;
	struct restart_what next;
	struct inheritance left;
	bool again;
	int r, code;

	if (!d) {
		log_error("%s", strerror(ENOMEM));
		return DAEMON_RUNTIME;
	}
	restart_receive(&d->inherited);
	d->options = options;
	d->next.text = text;
	d->reload.text = -1;
	d->config = config;
	d->reloads = d->inherited.reloads;
	d->started_boot_ns = time_ns(CLOCK_BOOTTIME);
	d->read_wall_ns = time_ns(CLOCK_REALTIME);
	r = start_loop(d);
	if (r < 0) {
		log_error("the event loop cannot be made: %s", strerror(-r));
		inheritance_release(&d->inherited);
		free(d);
		return DAEMON_RUNTIME;
	}
	r = start(d, &error);
	if (r == -ECANCELED && d->stopping) {
		log_debug("told to end before it began"); /* d->exit_code is set */
	} else if (r < 0) {
		log_error("%s", error ? error : strerror(-r));
		d->exit_code = options->check_config ? DAEMON_USAGE : DAEMON_RUNTIME;
	} else if (!d->stopping) {
		uv_run(&d->loop, UV_RUN_DEFAULT);
	}
	finish(d);
	code = d->exit_code;
	left = d->left;
	next = d->next;
	again = d->again && code == DAEMON_OK;
	free(d);
	if (again) {
		restart(options->arguments, next, &left);
		code = DAEMON_RUNTIME;
	}
	inheritance_release(&left);
	return code;
}
