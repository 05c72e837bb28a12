/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a handler; see follow.h. */
#include "tools/informerctl/follow.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Print once when informerd goes away, and once when it returns. */
static void
watch_daemon(struct follow *follow)
{
	struct informer_status status = {.size = sizeof(status)};

	if (informer_status(follow->inf, &status) != 0 || follow->lost == !status.connected)
		return;
	follow->lost = !status.connected;
	if (follow->lost)
		cli_fail("informerd is gone, waiting for it");
	else
		cli_fail("informerd is there again");
}

void
follow_added(struct follow *follow)
{
	if (!follow->stop && (follow->paused || follow->out->length < FOLLOW_FULL))
		return;
	follow->paused = true;
	informer_pause_handler(follow->handler, true);
}

void
follow_say_empty(const struct informer_handler_options *options)
{
	bool selects = options->label_selector || options->field_selector || options->filter;
	const char *what = selects ? " that match" : "";

	if (options->namespace_)
		cli_fail("no %s%s in namespace %s yet, waiting for changes (-A: of all namespaces)",
			 options->resource, what, options->namespace_);
	else
		cli_fail("no %s%s yet, waiting for changes", options->resource, what);
}

/* Write the output, then resume a paused handler. Returns -1, or the exit code. */
static int
write_out(struct follow *follow, bool *ret_gone)
{
	int r = text_flush(follow->out);

	*ret_gone = r == -EPIPE;
	if (r < 0 && r != -EPIPE)
		return cli_finish(follow->out);
	if (follow->paused && !follow->stop) {
		follow->paused = false;
		informer_pause_handler(follow->handler, false);
	}
	return -1;
}

/* Sleep until there are events, or until `end`. True: the output's reader is gone. */
static bool
sleep_until(struct follow *follow, int64_t end)
{
	/* poll() reports POLLERR for a pipe without a reader */
	struct pollfd fds[] = {{informer_fd(follow->inf), POLLIN, 0}, {follow->out->fd, 0, 0}};
	int64_t left = end - now_ms();

	if (poll(fds, 2, end == INT64_MAX ? -1 : left > 0 ? (int)left : 0) < 0)
		return false;
	return fds[1].revents & (POLLERR | POLLHUP | POLLNVAL);
}

int
follow_run(struct follow *follow, const struct informer_handler_options *options, bool *ret_timed_out)
{
	int64_t end = follow->timeout_ms < 0 ? INT64_MAX : now_ms() + follow->timeout_ms;
	bool gone = false;
	int r = informer_add_handler(follow->inf, options, &follow->handler);

	*ret_timed_out = false;
	if (r < 0)
		return cli_fail_code(r, options->resource);
	r = -1;
	while (r < 0 && !follow->stop && !gone) {
		bool held;

		informer_dispatch(follow->inf);
		held = follow->paused;
		r = write_out(follow, &gone);
		watch_daemon(follow);
		if (r >= 0 || follow->stop || gone)
			break;
		if (now_ms() >= end) {
			*ret_timed_out = true;
			break;
		}
		if (!held)
			gone = sleep_until(follow, end);
	}
	informer_remove_handler(follow->handler);
	return r;
}
