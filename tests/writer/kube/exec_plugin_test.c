/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a credential plugin, here a shell script. */
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "tests/support/transport_world.h"
#include "writer/kube/exec_plugin.h"
#include "writer/base/message.h"

#define ANSWER EXEC_ANSWER("\"token\":\"hunter2\"")

static bool no_close_range;	/* as before Linux 5.11 */
static unsigned looked_at;	/* descriptors whose flags were asked for */

int
close_range(unsigned first, unsigned last, int flags)
{
	if (no_close_range) {
		errno = ENOSYS;
		return -1;
	}
	return (int)syscall(SYS_close_range, first, last, flags);
}

int
fcntl(int fd, int command, ...)
{
	va_list arguments;
	void *argument;

	va_start(arguments, command);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	looked_at += command == F_GETFD;
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

static unsigned groups_killed;

int
kill(pid_t pid, int signal)
{
	groups_killed += pid < 0;
	return (int)syscall(SYS_kill, pid, signal);
}

static int n_done;
static char token[64], error[1024];

static int
setup(void **state)
{
	struct world *w;

	if (transport_world_setup(state) < 0)
		return -1;
	w = *state;
	w->config.server = strdup("https://x:6443");
	return 0;
}

static void
on_done(void *ctx, struct exec_credential *credential, const char *its_error)
{
	(void)ctx;
	n_done++;
	token[0] = error[0] = '\0';
	if (credential) {
		snprintf(token, sizeof(token), "%s", credential->token ? credential->token : "");
		exec_credential_done(credential);
	} else {
		snprintf(error, sizeof(error), "%s", its_error);
	}
}

static struct exec_plugin *
start(struct world *w)
{
	_cleanup_(message_freep) char *why = NULL;
	struct exec_plugin *plugin = NULL;

	if (exec_plugin_start(&w->loop, &w->config, on_done, w, &plugin, &why) < 0)
		fail_msg("%s", why ? why : "no message");
	assert_int_equal(n_done, 0);
	return plugin;
}

static void
run(struct world *w, const char *body)
{
	use_plugin(w, body);
	n_done = 0;
	start(w);
	run_until(w, n_done == 1);
	if (strstr(error, "hunter"))
		fail_msg("a secret is in '%s'", error);
}

static pid_t
pid_in(struct world *w, const char *name)
{
	return (pid_t)atol(read_file(w, name));
}

#define TEST(name) TEST_CASE_OF(struct world *w, setup, transport_world_teardown, name)

/* The loop goes on while the plugin runs. */
TEST(the_plugins_output_is_the_credential)
{
	run(w, ANSWER);
	assert_string_equal(error, "");
	assert_string_equal(token, "hunter2");
}

/* Arguments are passed unchanged. The environment is ours, the kubeconfig's, and the description. */
TEST(arguments_and_environment_reach_the_plugin)
{
	setenv("CONNECT_TEST_KEPT", "kept", 1);
	setenv("CONNECT_TEST_REPLACED", "old", 1);
	setenv("NOTIFY_SOCKET", "/run/x", 1);
	kube_pairs_add(&w->config.exec.args, NULL, "get token");
	kube_pairs_add(&w->config.exec.args, NULL, "$(x)");
	kube_pairs_add(&w->config.exec.env, "CONNECT_TEST_REPLACED", "new");
	run(w,
	    "printf '%s|' \"$@\" \"$CONNECT_TEST_KEPT\" \"$CONNECT_TEST_REPLACED\" \"${NOTIFY_SOCKET-none}\" "
	    "\"$KUBERNETES_EXEC_INFO\" >$D/seen\n" ANSWER);
	unsetenv("NOTIFY_SOCKET");
	assert_string_equal(read_file(w, "seen"), "get token|$(x)|kept|new|none|"
						  "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" EXEC_V1
						  "\",\"spec\":{\"interactive\":false}}|");
}

/* The descriptors open in a plugin. Two of ours were opened without close-on-exec. */
static void
assert_inherits_nothing(struct world *w)
{
	int leak = open("/etc/passwd", O_RDONLY), moved = fcntl(leak, F_DUPFD, 200);

	assert_int_equal(moved, 200);
	use_plugin(w, "ls -l /proc/$$/fd >$D/seen\nreadlink /proc/$$/fd/0 >$D/in\n" ANSWER);
	looked_at = 0;
	n_done = 0;
	start(w);
	if (no_close_range) {
		no_close_range = false;
		assert_in_range(looked_at, 2, 100);
		assert_int_equal(fcntl(leak, F_GETFD), FD_CLOEXEC);
		assert_int_equal(fcntl(moved, F_GETFD), FD_CLOEXEC);
	}
	run_until(w, n_done == 1);
	assert_string_equal(token, "hunter2");
	assert_null(strstr(read_file(w, "seen"), "passwd"));
	assert_null(strstr(read_file(w, "seen"), "socket:"));
	assert_null(strstr(read_file(w, "seen"), "eventpoll"));
	assert_string_equal(read_file(w, "in"), "/dev/null\n");
	close(leak);
	close(moved);
}

/* The plugin has /dev/null as its input, and none of our descriptors, even without close-on-exec. */
TEST(the_plugin_inherits_no_descriptor)
{
	assert_inherits_nothing(w);
}

/* Without close_range() the cost is that of the open descriptors, not of the limit, which may be 10^9. */
TEST(without_close_range_it_inherits_no_descriptor)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	no_close_range = true;
	assert_inherits_nothing(w);
}

/* A failure is reported with the exit code and the plugin's stderr, without secrets. */
TEST(a_failure_is_reported_without_secrets)
{
	kube_pairs_add(&w->config.exec.env, "SECRET", "hunter3");
	kube_pairs_add(&w->config.exec.args, NULL, "--client-secret=hunter4");
	kube_pairs_add(&w->config.exec.args, NULL, "--password");
	kube_pairs_add(&w->config.exec.args, NULL, "hunter5");
	run(w, "echo \"no profile; tried $SECRET $1 $3\" >&2; echo 'token=hunter2' >&2; exit 3");
	assert_non_null(strstr(error, "/plugin failed with exit code 3: no profile; tried [redacted]"));
	run(w, "kill -9 $$");
	assert_non_null(strstr(error, "was ended by signal 9"));
}

TEST(garbage_is_refused)
{
	run(w, "echo hunter2");
	assert_non_null(strstr(error, "is of no use: it printed no ExecCredential"));
	run(w, ":");
	assert_non_null(strstr(error, "is of no use: it printed no ExecCredential"));
	run(w, "head -c 300000 /dev/urandom");
	assert_non_null(strstr(error, "is of no use"));
}

/* A plugin that prints without end is killed, with its children. */
TEST(endless_output_is_cut)
{
	run(w, "yes hunter2 | cat");
	assert_non_null(strstr(error, "printed more than 1 MiB and was killed"));
}

/* A zombie counts as dead: it stays until init waits for it. */
static bool
is_dead(pid_t pid)
{
	char path[64], text[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return true;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return !*text || strstr(text, ") Z ");
}

/* A plugin that hangs is killed at its timeout, with its children. */
TEST(a_hanging_plugin_is_killed)
{
	pid_t child;

	w->config.request_timeout_ms = 300;
	use_plugin(
		w, "echo waiting for a browser >&2; sleep 1000 & echo $! >$D/pid; mv $D/pid $D/child; wait");
	start(w);
	run_until(w, *read_file(w, "child"));
	child = pid_in(w, "child");
	test_clock_pass(&w->loop, 299);
	assert_false(is_dead(child));
	test_clock_pass(&w->loop, 1);
	run_until(w, n_done == 1);
	assert_non_null(strstr(error, "did not end within 0.3 s and was killed: waiting for a browser"));
	run_until(w, is_dead(child));
}

/*
 * A plugin that was waited for is not killed at its timeout: its PID may name another process. The output of
 * a process that it left is closed.
 */
TEST(no_process_is_killed_by_a_freed_pid)
{
	pid_t plugin, child;

	w->config.request_timeout_ms = 300;
	use_plugin(w, "sleep 1000 & echo $! >$D/child; echo $$ >$D/pid; mv $D/pid $D/plugin_pid");
	n_done = 0;
	start(w);
	run_until(w, *read_file(w, "plugin_pid"));
	plugin = pid_in(w, "plugin_pid");
	child = pid_in(w, "child");
	run_until(w, kill(plugin, 0) < 0);
	groups_killed = 0;
	test_clock_pass(&w->loop, 300);
	run_until(w, n_done == 1);
	assert_non_null(strstr(error, "/plugin did not end its output within 0.3 s"));
	assert_null(strstr(error, "killed"));
	assert_int_equal(groups_killed, 0);
	assert_int_equal(kill(child, SIGKILL), 0);
	run_until(w, !uv_loop_alive(&w->loop));
}

/* A process that the plugin left behind ends when it prints, for its output is closed. */
TEST(a_printing_child_left_behind_ends_with_the_output)
{
	run(w, "yes hunter2 & echo $! >$D/child");
	assert_non_null(strstr(error, "printed more than 1 MiB"));
	run_until(w, is_dead(pid_in(w, "child")));
}

/* A plugin that ended but was not waited for is killed with its children: its PID is still its own. */
TEST(an_unwaited_plugin_is_killed_with_its_children)
{
	struct exec_plugin *plugin;
	pid_t child;

	use_plugin(w, "sleep 1000 & echo $! >$D/pid; mv $D/pid $D/child");
	n_done = 0;
	plugin = start(w);
	while (!*read_file(w, "child")) /* the loop does not run, so nothing waits for it */
		sched_yield();
	child = pid_in(w, "child");
	groups_killed = 0;
	exec_plugin_cancel(plugin);
	assert_int_equal(groups_killed, 1);
	run_until(w, is_dead(child));
	run_until(w, !uv_loop_alive(&w->loop));
	assert_int_equal(n_done, 0);
}

/* A child that keeps the plugin's stderr is not waited for. */
TEST(a_helper_left_behind_is_not_waited_for)
{
	run(w, "sleep 1000 >/dev/null & echo $! >$D/child\n" ANSWER);
	assert_string_equal(token, "hunter2");
	assert_int_equal(kill(pid_in(w, "child"), SIGKILL), 0);
}

/* The message for a missing command has the kubeconfig's hint. */
TEST(a_missing_command_tells_the_hint)
{
	_cleanup_(message_freep) char *why = NULL, *hinted = NULL;
	struct exec_plugin *plugin;

	w->config.exec.command = strdup("no-such-plugin");
	assert_int_equal(exec_plugin_start(&w->loop, &w->config, on_done, w, &plugin, &why), -ENOENT);
	assert_string_equal(why, "credential plugin no-such-plugin cannot be started: No such file or "
				 "directory; install it, or name its whole path in the kubeconfig");
	w->config.exec.install_hint = strdup("Get it\nfrom example.com");
	assert_int_equal(exec_plugin_start(&w->loop, &w->config, on_done, w, &plugin, &hinted), -ENOENT);
	assert_non_null(strstr(hinted, "Get it; from example.com"));
	assert_int_equal(n_done, 0);
}
