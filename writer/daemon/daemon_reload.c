/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reload: after SIGHUP informerd goes on with the current configuration file and the program on disk.
 *
 *	SIGHUP ─▶ the same command line with --check ─┬─ 0 ─▶ finish, restart (restart.h)
 *	                                              ├─ 3, and no name is new ─▶ the same
 *	                                              ├─ 3 ─▶ checked again, with backoff
 *	                                              └─ else: refused, everything goes on as before
 *
 * The program that would start makes the check. So a reload is refused exactly when a start would fail, with
 * the same message. The next run starts with the text that was checked. Another SIGHUP restarts the check.
 * Socket and arena keep their paths, because readers and the next run look for them there.
 *
 * systemd (Type=notify-reload) gets RELOADING=1, and READY=1 when the reload is refused or waits; otherwise
 * the next run sends it.
 */
#include "writer/daemon/daemon_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "shm-layout/time_ns.h"
#include "writer/base/descriptor_limit.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/base/notify.h"
#include "writer/config/config_build.h"
#include "writer/base/sealed_text.h"

#define WORDS_SHOWN 1000u

/* Before READY=1 systemd expects no RELOADING=1. */
static void
tell_begin(const struct daemon *d)
{
	if (d->ready)
		notify_format("RELOADING=1\nMONOTONIC_USEC=%llu",
			      (unsigned long long)(time_ns(CLOCK_MONOTONIC) / 1000));
}

static void
tell_end(const struct daemon *d)
{
	if (d->ready)
		notify("READY=1");
}

/* why: the reason of a refusal or a wait, else NULL. */
static void
set_state(struct daemon *d, enum reload_state state, const char *why)
{
	d->reload.state = state;
	free(d->reload.why);
	d->reload.why = why ? strdup(why) : NULL;
}

static void
refuse(struct daemon *d, const char *why)
{
	log_error("reload refused, everything stays as it was: %s", why);
	d->reloads.refused++;
	d->reloads.last_wall_ns = time_ns(CLOCK_REALTIME);
	set_state(d, RELOAD_REFUSED, why);
	tell_end(d);
}

static void
go_over(struct daemon *d)
{
	log_info("reload: the configuration is good: going on by it");
	d->reloads.succeeded++;
	d->reloads.last_wall_ns = time_ns(CLOCK_REALTIME);
	d->next = (struct restart_what){true, d->reload.text};
	d->reload.text = -1;
	d->again = true;
	daemon_stop(d, DAEMON_OK);
}

/* ---- the check ------------------------------------------------------------------- */

static void start_check(void *context);

static void
check_later(struct daemon *d, const char *why)
{
	uint64_t wait = backoff_next(&d->reload.backoff, &d->clock.clock, 0);

	if (d->reload.state != RELOAD_WAITS) {
		log_warning("reload waits; until then everything stays as it was: %s", why);
		tell_end(d);
	}
	set_state(d, RELOAD_WAITS, why);
	clock_set(&d->clock.clock, &d->reload.retry, wait, start_check, d);
}

/* The last line that the check wrote, without "informerd: ". */
static void
last_words(int file, char text[WORDS_SHOWN])
{
	off_t end = lseek(file, 0, SEEK_END), from = end > WORDS_SHOWN - 1 ? end - (WORDS_SHOWN - 1) : 0;
	ssize_t n = pread(file, text, WORDS_SHOWN - 1, from);
	char *line;

	n = n < 0 ? 0 : n;
	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	line = strrchr(text, '\n');
	line = line ? line + 1 : text;
	if (strncmp(line, "informerd: ", 11) == 0)
		line += 11;
	memmove(text, line, strlen(line) + 1);
}

/* The check's handle is closed: another check may use it. */
static void
on_closed(uv_handle_t *handle)
{
	struct daemon *d = handle->data;
	int64_t code = d->reload.result;
	char words[WORDS_SHOWN];

	last_words(d->reload.words, words);
	close(d->reload.words);
	d->reload.checking = false;
	if (d->stopping || d->reload.state == RELOAD_REFUSED)
		return;
	if (d->reload.anew)
		start_check(d);
	else if (code == DAEMON_OK || (code == DAEMON_UNANSWERED && d->reload.names_known))
		go_over(d);
	else if (code == DAEMON_UNANSWERED)
		check_later(d, words);
	else if (code < 0)
		refuse(d, strerror((int)-code));
	else
		refuse(d, *words ? words : "the program on disk does not say why it would not start");
}

static void
on_checked(uv_process_t *process, int64_t code, int signal)
{
	struct daemon *d = process->data;

	d->reload.result = signal ? DAEMON_RUNTIME : code;
	uv_close((uv_handle_t *)process, on_closed);
}

/* Copy the array with one more word; free() the array alone. NULL: no memory. */
static char **
with_one_more(char *const *words, const char *more)
{
	size_t count = 0;
	char **all;

	while (words[count])
		count++;
	all = calloc(count + 2, sizeof(*all));
	if (all) {
		memcpy(all, words, count * sizeof(*all));
		all[count] = (char *)(uintptr_t)more;
	}
	return all;
}

static void
start_check(void *context)
{
	struct daemon *d = context;
	uv_stdio_container_t stdio[4] = {
		{.flags = UV_IGNORE}, {.flags = UV_IGNORE}, {.flags = UV_INHERIT_FD}, {.flags = UV_IGNORE}};
	uv_process_options_t options = {
		.file = d->options->arguments[0], .exit_cb = on_checked, .stdio = stdio, .stdio_count = 4,
		.args = with_one_more(d->options->arguments, "--check"),
		.env = with_one_more(environ, RESTART_TEXT_VARIABLE "=3"),
	};
	int r;

	d->reload.anew = false;
	d->reload.words = stdio[2].data.fd = memfd_create("informerd-check", MFD_CLOEXEC);
	if (d->reload.text >= 0)
		stdio[3] = (uv_stdio_container_t){.flags = UV_INHERIT_FD, .data.fd = d->reload.text};
	if (!options.args || !options.env || d->reload.words < 0) {
		free(options.args);
		free(options.env);
		refuse(d, "no memory for a check");
		return;
	}
	d->reload.checking = true;
	r = uv_spawn(&d->loop, &d->reload.check, &options);
	free(options.args);
	free(options.env);
	d->reload.check.data = d;
	if (r < 0) {
		d->reload.result = r;
		uv_close((uv_handle_t *)&d->reload.check, on_closed);
	} else {
		descriptor_limit_give_back(d->reload.check.pid);
	}
}

static void
kill_check(struct daemon *d)
{
	if (d->reload.checking && !uv_is_closing((uv_handle_t *)&d->reload.check))
		uv_process_kill(&d->reload.check, SIGKILL);
}

/* ---- public functions ------------------------------------------------------------ */

static bool
same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* True if each name that is not optional is resolved. */
static bool
names_are_known(const struct daemon *d, const struct config *config)
{
	const struct kube_resource **resolved = known_names_of(&d->known, config);
	bool known = resolved != NULL;

	for (size_t i = 0; known && i < config->n_resources + config->n_indexes; i++)
		known = resolved[i] || (i < config->n_resources && config->resources[i].optional);
	free(resolved);
	return known;
}

static void
forget_text(struct daemon *d)
{
	if (d->reload.text >= 0)
		close(d->reload.text);
	d->reload.text = -1;
}

static void
reload(struct daemon *d)
{
	_cleanup_(message_freep) char *error = NULL;
	struct config config;

	log_info("reload: looking at %s", d->options->config_path
						  ? d->options->config_path
						  : "flags and API server: there is no --config");
	/* end the check of the previous text */
	clock_clear(&d->clock.clock, &d->reload.retry);
	kill_check(d);
	d->reload.anew = false;
	tell_begin(d);
	forget_text(d);
	if (sealed_text_read(d->options->config_path, CONFIG_MAX_BYTES, &d->reload.text, &error) < 0 ||
	    config_build(d->options, d->reload.text, &config, &error) < 0) {
		refuse(d, error ? error : strerror(ENOMEM));
		return;
	}
	d->reload.names_known = names_are_known(d, &config);
	if (!same_text(config.socket, d->config->socket) ||
	    !same_text(config.arena_dir, d->config->arena_dir) ||
	    !same_text(config.arena_name, d->config->arena_name)) {
		refuse(d, "socket, arena.dir and arena.name cannot change while informerd runs: stop it, and "
			  "start it anew");
	} else {
		set_state(d, RELOAD_CHECKS, NULL);
		d->reload.anew = d->reload.checking;
		if (!d->reload.checking)
			start_check(d);
	}
	config_done(&config);
}

static void
on_hangup(uv_poll_t *handle, int status, int events)
{
	struct daemon *d = handle->data;
	struct signalfd_siginfo signal;

	(void)status;
	(void)events;
	while (read(d->hangup_fd, &signal, sizeof(signal)) > 0)
		;
	if (d->stopping)
		return;
	if (d->local.store) {
		reload(d);
	} else { /* standing by: no check is needed */
		d->next = (struct restart_what){true, -1};
		d->again = true;
		daemon_stop(d, DAEMON_OK);
	}
}

void
daemon_take_hangups(struct daemon *d)
{
	uv_poll_start(&d->hangup, UV_READABLE, on_hangup);
}

void
daemon_reload_again(const struct daemon *d)
{
	if (d->reload.state == RELOAD_CHECKS || d->reload.state == RELOAD_WAITS)
		kill(getpid(), SIGHUP);
}

void
daemon_reload_end(struct daemon *d)
{
	clock_clear(&d->clock.clock, &d->reload.retry);
	kill_check(d); /* finish() runs the loop until the process is gone */
	forget_text(d);
	free(d->reload.why);
	d->reload.why = NULL;
}
