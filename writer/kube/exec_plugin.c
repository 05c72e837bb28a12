/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run of a credential plugin; see exec_plugin.h.
 *
 * The run is over when the process has ended and its standard output is closed (a child may still write), or
 * when a limit is exceeded. Memory is freed when the last handle is closed:
 *
 *	start ──▶ exit and end of output ──▶ done() ──▶ handles closed ──▶ freed
 *	      └─▶ cancel, or a limit: killed ──▶ exit ──┘ (without done() when cancelled)
 */
#include "writer/kube/exec_plugin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "writer/base/descriptor_limit.h"
#include "writer/base/file.h"
#include "writer/kube/exec_command.h"
#include "writer/kube/redact.h"
#include "writer/base/message.h"

#define STDERR_KEEP  4096u
#define STDERR_SHOWN 400u

struct exec_plugin {
	uv_process_t process;
	uv_pipe_t out, err;
	uv_timer_t limit;
	unsigned n_handles;
	exec_plugin_done *done; /* NULL: called, or cancelled */
	void *ctx;
	struct kube_client_config config;
	uint64_t timeout_ms;
	char *data; /* the plugin's standard output */
	size_t len, size;
	char tail[STDERR_KEEP]; /* the end of the plugin's standard error */
	size_t tail_len;
	bool exited, out_ended, closing;
	int64_t exit_code;
	int exit_signal;
	char failure[128]; /* why it was given up; "": it was not */
	struct kube_pairs secrets; /* must not appear in messages */
};

/* ---- ending ------------------------------------------------------------------------------- */

static void
on_closed(uv_handle_t *handle)
{
	struct exec_plugin *plugin = handle->data;

	if (--plugin->n_handles > 0)
		return;
	kube_client_config_done(&plugin->config);
	file_wipe(plugin->data, plugin->len);
	kube_pairs_done(&plugin->secrets);
	free(plugin);
}

static void
close_handles(struct exec_plugin *plugin)
{
	if (!plugin->closing) {
		plugin->closing = true;
		uv_close((uv_handle_t *)&plugin->out, on_closed);
		uv_close((uv_handle_t *)&plugin->err, on_closed);
		uv_close((uv_handle_t *)&plugin->limit, on_closed);
	}
	/* not before the process has ended: libuv must reap it */
	if (plugin->exited && plugin->process.loop && !uv_is_closing((uv_handle_t *)&plugin->process))
		uv_close((uv_handle_t *)&plugin->process, on_closed);
}

/*
 * Kill the plugin and all that it started. True: there was a process to kill.
 *
 * Once libuv has reaped the plugin, its pid may be that of another session, so nothing is killed. libuv
 * reports the end later than it reaps. Processes that the plugin left behind have only its output, which we
 * close.
 */
static bool
kill_all(const struct exec_plugin *plugin)
{
	siginfo_t info;
	pid_t pid = plugin->process.pid;

	return !plugin->exited && waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       kill(-pid, SIGKILL) == 0;
}

static void
keep_tail(struct exec_plugin *plugin, const char *data, size_t len)
{
	size_t room;

	if (len > STDERR_KEEP) {
		data += len - STDERR_KEEP;
		len = STDERR_KEEP;
	}
	room = STDERR_KEEP - plugin->tail_len;
	if (len > room) {
		memmove(plugin->tail, plugin->tail + (len - room), plugin->tail_len - (len - room));
		plugin->tail_len -= len - room;
	}
	memcpy(plugin->tail + plugin->tail_len, data, len);
	plugin->tail_len += len;
}

/* Read what the pipe still holds. A process that the plugin left behind may keep the other end open. */
static void
drain_stderr(struct exec_plugin *plugin)
{
	char buffer[4096];
	uv_os_fd_t fd;
	ssize_t n;

	if (uv_fileno((uv_handle_t *)&plugin->err, &fd) < 0)
		return;
	for (int i = 0; i < 16 && (n = read(fd, buffer, sizeof(buffer))) > 0;
	     i++) /* as much as a pipe holds */
		keep_tail(plugin, buffer, (size_t)n);
}

/* "credential plugin aws: WHY: what it wrote" */
static void
tell_failure(struct exec_plugin *plugin, const char *why)
{
	_cleanup_(message_freep) char *error = NULL, *words = NULL;

	words = redact_text(plugin->tail, plugin->tail_len, &plugin->secrets, STDERR_SHOWN);
	message_format(&error, "credential plugin %s %s%s%s", plugin->config.exec.command, why,
		       words && *words ? ": " : "", words ? words : "");
	plugin->done(plugin->ctx, NULL, error ? error : "no memory for a credential plugin's error");
}

static void
tell_outcome(struct exec_plugin *plugin)
{
	_cleanup_(message_freep) char *error = NULL, *why = NULL;
	struct exec_credential credential;

	if (plugin->failure[0]) {
		tell_failure(plugin, plugin->failure);
	} else if (plugin->exit_signal) {
		message_format(&why, "was ended by signal %d", plugin->exit_signal);
		tell_failure(plugin, why ? why : "failed");
	} else if (plugin->exit_code != 0) {
		message_format(&why, "failed with exit code %lld", (long long)plugin->exit_code);
		tell_failure(plugin, why ? why : "failed");
	} else if (exec_credential_parse(plugin->data ? plugin->data : "", plugin->len,
					 plugin->config.exec.api_version, &credential, &error) < 0) {
		message_format(&why, "is of no use: %s", error ? error : "no memory");
		tell_failure(plugin, why ? why : "failed");
	} else {
		plugin->done(plugin->ctx, &credential, NULL);
	}
}

static void
maybe_finish(struct exec_plugin *plugin)
{
	if (!plugin->exited || (!plugin->out_ended && !plugin->failure[0])) {
		if (plugin->closing)
			close_handles(plugin);
		return;
	}
	if (plugin->done) {
		drain_stderr(plugin);
		tell_outcome(plugin);
		plugin->done = NULL;
	}
	close_handles(plugin);
}

/* The plugin exceeds a limit. `why` is part of the message. */
static void
give_up(struct exec_plugin *plugin, const char *why)
{
	if (plugin->failure[0])
		return;
	snprintf(plugin->failure, sizeof(plugin->failure), "%s%s", why,
		 kill_all(plugin) ? " and was killed" : "");
	maybe_finish(plugin);
}

/* ---- running ------------------------------------------------------------------------------- */

static void
on_exit_(uv_process_t *process, int64_t exit_code, int exit_signal)
{
	struct exec_plugin *plugin = process->data;

	plugin->exited = true;
	plugin->exit_code = exit_code;
	plugin->exit_signal = exit_signal;
	if (plugin->closing)
		close_handles(plugin);
	else
		maybe_finish(plugin);
}

static void
on_limit(uv_timer_t *timer)
{
	struct exec_plugin *plugin = timer->data;
	char why[96];

	snprintf(why, sizeof(why), "did not end%s within %.1f s", plugin->exited ? " its output" : "",
		 (double)plugin->timeout_ms / 1000);
	give_up(plugin, why);
}

/* Make room for output; not with realloc(), which would leave a copy of a secret behind. */
static void
give_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
	struct exec_plugin *plugin = handle->data;
	size_t larger = plugin->size ? 2 * plugin->size : 4096;
	char *data;

	(void)suggested;
	if (plugin->size == plugin->len && plugin->size <= EXEC_PLUGIN_MAX_BYTES && (data = malloc(larger))) {
		if (plugin->len)
			memcpy(data, plugin->data, plugin->len);
		file_wipe(plugin->data, plugin->len);
		plugin->data = data;
		plugin->size = larger;
	}
	*ret = uv_buf_init(plugin->data ? plugin->data + plugin->len : NULL,
			   (unsigned)(plugin->size - plugin->len));
}

static void
on_printed(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer)
{
	struct exec_plugin *plugin = stream->data;

	(void)buffer;
	if (n > 0)
		plugin->len += (size_t)n;
	if (plugin->len > EXEC_PLUGIN_MAX_BYTES) {
		uv_read_stop(stream);
		give_up(plugin, "printed more than 1 MiB");
	} else if (n == UV_ENOBUFS) {
		uv_read_stop(stream);
		give_up(plugin, "printed more than there is memory for");
	} else if (n < 0) {
		uv_read_stop(stream);
		plugin->out_ended = true;
		maybe_finish(plugin);
	}
}

static void
give_scratch(uv_handle_t *handle, size_t suggested, uv_buf_t *ret)
{
	static char scratch[4096]; /* one loop, one callback at a time */

	(void)handle;
	(void)suggested;
	*ret = uv_buf_init(scratch, sizeof(scratch));
}

static void
on_complained(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer)
{
	struct exec_plugin *plugin = stream->data;

	if (n > 0)
		keep_tail(plugin, buffer->base, (size_t)n);
	if (buffer->base)
		explicit_bzero(buffer->base, n > 0 ? (size_t)n : 0);
	if (n < 0)
		uv_read_stop(stream);
}

/* ---- starting ------------------------------------------------------------------------------- */

/*
 * Mark all our descriptors close-on-exec, also those that libraries or our parent opened. The kernel does it
 * in one call from 5.11 on; before, one by one. 0 or negative errno.
 */
static int
keep_descriptors(void)
{
	struct dirent *entry;
	DIR *open_ones;

	if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0)
		return 0;
	open_ones = opendir("/proc/self/fd");
	if (!open_ones)
		return -errno;
	while ((entry = readdir(open_ones))) {
		int fd = atoi(entry->d_name), flags = fd > 2 ? fcntl(fd, F_GETFD) : -1;

		if (flags >= 0 && !(flags & FD_CLOEXEC))
			fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
	}
	closedir(open_ones);
	return 0;
}

/* A real pipe, so that the plugin can open it again as /dev/stderr; libuv's own are sockets. */
static int
open_pipe(uv_pipe_t *handle, uv_file *ret_write_end)
{
	uv_file ends[2];
	int r = uv_pipe(ends, UV_NONBLOCK_PIPE, 0);

	if (r < 0)
		return r;
	r = uv_pipe_open(handle, ends[0]);
	if (r < 0) {
		close(ends[0]);
		close(ends[1]);
		return r;
	}
	*ret_write_end = ends[1];
	return 0;
}

/* 0, or a negative errno; the handles must be closed in both cases. */
static int
spawn(struct exec_plugin *plugin, uv_loop_t *loop, char **arguments, char **environment)
{
	uv_stdio_container_t stdio[3] = {
		{.flags = UV_IGNORE}, {.flags = UV_INHERIT_FD}, {.flags = UV_INHERIT_FD}};
	uv_process_options_t options = {
		.file = arguments[0], .args = arguments, .env = environment, .exit_cb = on_exit_,
		/* a session of its own: all of it can be killed, and it has no terminal */
		.flags = UV_PROCESS_DETACHED,
		.stdio = stdio, .stdio_count = 3,
	};
	uv_file out = -1, err = -1;
	int r;

	uv_pipe_init(loop, &plugin->out, 0);
	uv_pipe_init(loop, &plugin->err, 0);
	uv_timer_init(loop, &plugin->limit);
	plugin->n_handles = 3;
	plugin->process.data = plugin->out.data = plugin->err.data = plugin->limit.data = plugin;
	r = open_pipe(&plugin->out, &out);
	if (r == 0)
		r = open_pipe(&plugin->err, &err);
	if (r == 0)
		r = keep_descriptors();
	if (r == 0) {
		stdio[1].data.fd = out;
		stdio[2].data.fd = err;
		plugin->n_handles++; /* the process's, also when it does not start */
		r = uv_spawn(loop, &plugin->process, &options);
		if (r == 0)
			descriptor_limit_give_back(plugin->process.pid);
	}
	if (out >= 0)
		close(out);
	if (err >= 0)
		close(err);
	if (r < 0)
		return r;
	uv_read_start((uv_stream_t *)&plugin->out, give_room, on_printed);
	uv_read_start((uv_stream_t *)&plugin->err, give_scratch, on_complained);
	uv_timer_start(&plugin->limit, on_limit, plugin->timeout_ms, 0);
	return 0;
}

static int
explain_start(const struct kube_exec *exec, int code, char **ret_error)
{
	_cleanup_(message_freep) char *hint = NULL;

	if (code == -ENOENT && exec->install_hint)
		hint = redact_text(exec->install_hint, strlen(exec->install_hint), &exec->env, STDERR_SHOWN);
	return message_set(ret_error, code, "credential plugin %s cannot be started: %s%s%s", exec->command,
			   strerror(-code),
			   hint && *hint     ? "; "
			   : code == -ENOENT ? "; install it, or name its whole path in the kubeconfig"
					     : "",
			   hint ? hint : "");
}

int
exec_plugin_start(uv_loop_t *loop, const struct kube_client_config *config, exec_plugin_done *done, void *ctx,
		  struct exec_plugin **ret_plugin, char **ret_error)
{
	_cleanup_(message_freep) char *info = NULL;
	char **arguments = NULL, **environment = NULL;
	struct exec_plugin *plugin;
	int r;

	r = exec_credential_info(config, &info, ret_error);
	if (r < 0)
		return r;
	plugin = calloc(1, sizeof(*plugin));
	if (!plugin)
		return -ENOMEM;
	plugin->done = done;
	plugin->ctx = ctx;
	plugin->timeout_ms = EXEC_PLUGIN_TIMEOUT_MS;
	if (config->request_timeout_ms && config->request_timeout_ms < plugin->timeout_ms)
		plugin->timeout_ms = config->request_timeout_ms;
	arguments = exec_command_arguments(&config->exec);
	environment = exec_command_environment(&config->exec.env, info);
	r = arguments && environment ? kube_client_config_copy(config, &plugin->config) : -ENOMEM;
	if (r == 0)
		r = exec_command_secrets(&config->exec, &plugin->secrets);
	if (r < 0) {
		kube_client_config_done(&plugin->config);
		kube_pairs_done(&plugin->secrets);
		free(plugin);
		goto out;
	}
	r = spawn(plugin, loop, arguments, environment);
	if (r < 0) {
		plugin->done = NULL;
		plugin->exited = true; /* no process was started */
		close_handles(plugin);
		r = explain_start(&config->exec, r, ret_error);
		goto out;
	}
	*ret_plugin = plugin;
out:
	exec_command_free(arguments);
	exec_command_free(environment);
	return r;
}

void
exec_plugin_cancel(struct exec_plugin *plugin)
{
	if (!plugin)
		return;
	plugin->done = NULL;
	kill_all(plugin);
	close_handles(plugin);
}
