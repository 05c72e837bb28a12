/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informer-run: supervises handler processes that may crash. One thread, one event loop, one handle of the
 * library; each handler is a runner (runner.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/informer-run/runner.h"
#include "tools/informer-run/say.h"
#include "tools/informer-run/run_status.h"

#define EXIT_UNDONE 1
/* a drain that takes longer is explained */
#define DRAIN_TOLD_MS 1000

/*
 * lost          the daemon's absence was reported
 * lacks_memory  an event was lost for lack of memory
 * unknown       one bit per handler: reported that informerd does not cache its resource
 * asked         one bit per handler: reported that informerd has not resolved its resource
 */
struct run {
	struct loop loop;
	struct settings settings;
	struct informer *informer;
	struct runner *runners[SETTINGS_HANDLERS_MAX];
	struct status_server status;
	struct loop_descriptor informer_descriptor, signal_descriptor;
	bool draining;
	bool lost;
	bool lacks_memory;
	uint64_t unknown, asked;
	uint64_t drain_end_ms, drain_told_ms;
};

/* ---- the daemon ---- */

/* Print a warning of the library. */
static void
warned(void *context, enum informer_log_level level, const char *message)
{
	(void)context;
	if (level <= INFORMER_LOG_WARNING)
		say(NULL, "%s", message);
}

/* Report once each resource that informerd does not cache, and once when it does. */
static void
check_resources(struct run *run)
{
	struct informer_snapshot snap;

	if (informer_begin(run->informer, &snap) < 0)
		return;
	for (size_t i = 0; i < run->settings.count; i++) {
		const struct handler_settings *handler = &run->settings.handlers[i];
		struct informer_resource_info info = {.size = sizeof(info)};
		struct informer_resource *resource;
		uint64_t bit = UINT64_C(1) << i;
		int r = informer_resource_open(run->informer, handler->resource, &resource);

		if (r == 0)
			r = informer_resource_info(&snap, resource, &info);
		if (r == INFORMER_E_NOT_READY && !(run->asked & bit)) {
			say(handler->name,
			    "informerd still asks the API server what it serves, '%s' may be among it; "
			    "waiting",
			    handler->resource);
			run->asked |= bit;
		} else if (r == INFORMER_E_NO_RESOURCE && !(run->unknown & bit)) {
			say(handler->name,
			    "informerd does not cache '%s'; waiting until it does (informerctl stat lists "
			    "what it caches; add it: "
			    "informerd --resource %s ...)",
			    handler->resource, handler->resource);
			run->unknown |= bit;
		} else if (r == 0 && ((run->unknown | run->asked) & bit)) {
			say(handler->name, "informerd caches '%s' now", handler->resource);
			run->unknown &= ~bit;
			run->asked &= ~bit;
		}
	}
	informer_end(&snap);
}

/* Report once when the daemon goes away, and once when it returns. */
static void
watch_daemon(struct run *run)
{
	struct informer_status status = {.size = sizeof(status)};
	bool lost = informer_status(run->informer, &status) == 0 && (!status.attached || !status.connected);

	if (lost && !run->lost)
		say(NULL, "waiting for informerd: %s", *status.reason ? status.reason : "it is not there");
	else if (!lost && run->lost)
		say(NULL, "informerd is there");
	run->lost = lost;
	if (!lost)
		check_resources(run);
}

static void
drain(struct run *run)
{
	if (run->draining)
		return;
	run->draining = true;
	run->drain_end_ms = loop_now() + run->settings.drain_ms;
	for (size_t i = 0; i < run->settings.count; i++)
		runner_drain(run->runners[i]);
	run->drain_told_ms = loop_now() + DRAIN_TOLD_MS;
}

static void
dispatch(struct run *run)
{
	informer_dispatch(run->informer);
	for (size_t i = 0; i < run->settings.count; i++) {
		runner_dispatched(run->runners[i]);
		run->lacks_memory |= runner_lacks_memory(run->runners[i]);
	}
	if (run->lacks_memory)
		drain(run);
	watch_daemon(run);
}

static void
informer_ready(void *context, uint32_t events)
{
	(void)events;
	dispatch(context);
}

/* ---- signals ---- */

/* Report once, after DRAIN_TOLD_MS, why the drain has not ended. */
static void
tell_drain(struct run *run)
{
	uint64_t now = loop_now();

	if (!run->draining || now < run->drain_told_ms || now >= run->drain_end_ms)
		return;
	run->drain_told_ms = UINT64_MAX;
	say(NULL, "asked to end: waiting up to %llu s for what is under way (another SIGINT ends it at once)",
	    (unsigned long long)(run->drain_end_ms - now + 999) / 1000);
}

static void
children_ended(struct run *run)
{
	siginfo_t info;

	/* process 1 of a container also reaps orphans */
	while (info.si_pid = 0,
	       waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid > 0) {
		bool ours = false;

		for (size_t i = 0; i < run->settings.count && !ours; i++)
			ours = runner_child_ended(run->runners[i], info.si_pid);
		if (!ours)
			waitpid(info.si_pid, NULL, WNOHANG);
	}
}

static void
signal_ready(void *context, uint32_t events)
{
	struct run *run = context;
	struct signalfd_siginfo info;

	(void)events;
	while (read(run->signal_descriptor.fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			children_ended(run);
		else if (run->draining && info.ssi_signo == SIGINT)
			run->drain_end_ms = 0; /* a second ^C */
		else
			drain(run);
	}
}

static int
watch_signals(struct run *run)
{
	sigset_t set;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno
		      : loop_add(&run->loop, &run->signal_descriptor, fd, EPOLLIN, signal_ready, run);
}

/* ---- the run ---- */

static void
describe(void *context, struct text *out)
{
	const struct run *run = context;
	struct informer_status status = {.size = sizeof(status)};

	informer_status(run->informer, &status);
	text_addf(out, "{\"schema\":1,\"pid\":%d,\"connected\":%s,\"handlers\":[", (int)getpid(),
		  status.connected ? "true" : "false");
	for (size_t i = 0; i < run->settings.count; i++) {
		text_adds(out, i > 0 ? "," : "");
		runner_status(run->runners[i], out);
	}
	text_adds(out, "]}\n");
}

static int
start(struct run *run)
{
	struct informer_options options = {.size = sizeof(options),
					   .socket_path = run->settings.socket,
					   .reader_name = "informer-run",
					   .log = warned,
					   .log_context = run};
	int r = loop_init(&run->loop);

	if (r == 0)
		r = watch_signals(run);
	if (r < 0)
		return say(NULL, "cannot start: %s", strerror(-r));
	r = informer_attach(&options, &run->informer);
	if (r < 0)
		return say(NULL, "cannot attach: %s",
			   r == -ENAMETOOLONG ? "the socket's path is too long (107 bytes at most)"
					      : strerror(-r));
	for (size_t i = 0; i < run->settings.count; i++)
		if (runner_new(&run->loop, run->informer, &run->settings.handlers[i], &run->runners[i]) < 0)
			return EXIT_USAGE;
	r = loop_add(&run->loop, &run->informer_descriptor, informer_fd(run->informer), EPOLLIN,
		     informer_ready, run);
	if (r < 0)
		return say(NULL, "cannot start: %s", strerror(-r));
	status_listen(&run->status, &run->loop, describe, run);
	return -1;
}

static bool
busy(const struct run *run)
{
	for (size_t i = 0; i < run->settings.count; i++)
		if (runner_busy(run->runners[i]))
			return true;
	return false;
}

static void
round_once(struct run *run)
{
	uint64_t next = run->draining ? run->drain_end_ms : UINT64_MAX;
	bool wants = false;

	if (run->draining && run->drain_told_ms < next)
		next = run->drain_told_ms;
	for (size_t i = 0; i < run->settings.count; i++) {
		uint64_t its = runner_next(run->runners[i]);

		next = its < next ? its : next;
		wants |= runner_wants_dispatch(run->runners[i]);
	}
	loop_once(&run->loop, wants ? 0 : next);
	if (wants)
		dispatch(run);
	for (size_t i = 0; i < run->settings.count; i++)
		runner_tick(run->runners[i]);
}

static int
run_all(struct run *run)
{
	int r = start(run);

	if (r >= 0)
		return r;
	dispatch(run);
	for (size_t i = 0; i < run->settings.count; i++)
		runner_tick(run->runners[i]);
	while (!run->draining || (busy(run) && loop_now() < run->drain_end_ms)) {
		round_once(run);
		tell_drain(run);
	}
	if (!busy(run))
		return run->lacks_memory ? EXIT_UNDONE : EXIT_SUCCESS;
	say(NULL,
	    "not everything that was under way was answered in time; it comes again with the next start");
	return EXIT_UNDONE;
}

static void
done(struct run *run)
{
	if (run->status.loop)
		status_done(&run->status);
	for (size_t i = 0; i < run->settings.count; i++)
		runner_free(run->runners[i]);
	informer_detach(run->informer);
	if (run->signal_descriptor.fd >= 0)
		close(run->signal_descriptor.fd);
	loop_done(&run->loop);
	settings_done(&run->settings);
}

int
main(int argc, char **argv)
{
	struct run run = {.loop.epoll = -1,
			  .informer_descriptor = LOOP_DESCRIPTOR_NONE,
			  .signal_descriptor = LOOP_DESCRIPTOR_NONE};
	struct status_options status;
	int r;

	if (argc > 1 && strcmp(argv[1], "status") == 0) {
		r = options_parse_status(argc - 1, argv + 1, &status);
		return r < 0 ? status_show(&status) : r;
	}
	r = options_parse_run(argc, argv, &run.settings);
	if (r >= 0)
		return r;
	r = run_all(&run);
	done(&run);
	return r;
}
