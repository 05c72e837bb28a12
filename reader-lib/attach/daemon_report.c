/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetches the daemon's own report over a connection of its own. So it works without a slot, when all slots
 * are taken, and during the first list.
 */
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "reader-lib/attach/connection.h"
#include "reader-lib/attach/broker_message.h"
#include "shm-layout/time_ns.h"

#define REPORT_MAX (64u << 20)
#define HANG_UPS_MAX 3u

struct report {
	char *text;
	size_t length;
	size_t size;
};

static int
report_append(struct informer *inf, struct report *report, const char *data, size_t length)
{
	if (!report->text || report->length + length + 1 > report->size) {
		size_t size = (report->length + length + 1) * 2;
		char *text = size > REPORT_MAX ? NULL : memory_get(inf, size);

		if (!text)
			return -ENOMEM;
		if (report->text)
			memcpy(text, report->text, report->length);
		memory_put(inf, report->text);
		report->text = text;
		report->size = size;
	}
	memcpy(report->text + report->length, data, length);
	report->length += length;
	report->text[report->length] = '\0';
	return 0;
}

static int
wait_readable(int fd, uint64_t end_ns)
{
	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		uint64_t now = time_ns(CLOCK_MONOTONIC),
			 left = now < end_ns ? (end_ns - now) / 1000000u + 1 : 0;
		int n = poll(&p, 1, left > INT_MAX ? INT_MAX : (int)left);

		if (n > 0)
			return 0;
		if (n == 0 && now >= end_ns)
			return error_set(-ETIMEDOUT, "informerd does not answer");
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

/* Receive one packet of the answer. 1: more follow; 0: it was the last; or negative. */
static int
receive_piece(struct informer *inf, int fd, char *packet, uint64_t end_ns, struct report *report)
{
	struct message_head head;
	ssize_t n;
	int r = wait_readable(fd, end_ns);

	if (r < 0)
		return r;
	n = recv(fd, packet, PROTOCOL_PACKET_MAX, MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 1 : -errno;
	if (n == 0)
		return error_set(-ECONNRESET, "informerd closed the connection before it had answered");
	if (n > (ssize_t)PROTOCOL_PACKET_MAX || !message_ok(packet, (size_t)n, sizeof(head)))
		return error_set(
			-EPROTO,
			"informerd answered with a packet that makes no sense: is it of another release?");
	memcpy(&head, packet, sizeof(head));
	if (head.type == MESSAGE_REFUSED)
		return message_refusal(packet, (size_t)n);
	if (head.type != MESSAGE_REPORT)
		return error_set(-EPROTO, "informerd answered with a message of type %u", head.type);
	r = report_append(inf, report, packet + sizeof(head), (size_t)n - sizeof(head));
	return r < 0 ? r : head.more != 0;
}

/* Connect. While the queue of connections is full, try again until end_ns. */
static int
open_until(struct informer *inf, uint64_t end_ns)
{
	static const struct timespec wait = {.tv_nsec = 10000000};
	unsigned place;
	int fd;

	for (;;) {
		pthread_mutex_lock(&inf->lock);
		fd = connection_open(inf, &place);
		pthread_mutex_unlock(&inf->lock);
		if (fd != -EAGAIN || time_ns(CLOCK_MONOTONIC) >= end_ns)
			return fd;
		nanosleep(&wait, NULL);
	}
}

/* Ask once, over a connection of its own. 0 or negative. The caller frees report->text in any case. */
static int
ask(struct informer *inf, uint64_t end_ns, struct report *report)
{
	struct message_head question;
	int fd = open_until(inf, end_ns), r;
	char *packet;

	if (fd < 0)
		return fd;
	packet = memory_get(inf, PROTOCOL_PACKET_MAX);
	message_begin(&question, MESSAGE_STAT, sizeof(question));
	r = packet ? 1 : -ENOMEM;
	/* A broker that refuses us at once has hung up already; its packet is still in the socket. */
	if (r > 0 && send(fd, &question, sizeof(question), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
	    errno != EPIPE && errno != ECONNRESET)
		r = -errno;
	while (r > 0)
		r = receive_piece(inf, fd, packet, end_ns, report);
	close(fd);
	memory_put(inf, packet);
	return r;
}

int
informer_stat_json(struct informer *inf, int timeout_ms, char **ret_text, size_t *ret_length)
{
	uint64_t end = timeout_ms < 0 ? UINT64_MAX / 2
				      : time_ns(CLOCK_MONOTONIC) + (uint64_t)timeout_ms * 1000000u;
	struct report report = {0};
	unsigned tries = HANG_UPS_MAX;
	int r;

	if (!inf || !ret_text)
		return -EINVAL;
	if (forked(inf))
		return INFORMER_E_FORKED;
	/* An informerd that hands over to its successor hangs up on readers that it has not heard yet. */
	do {
		report.length = 0;
		r = ask(inf, end, &report);
	} while ((r == -ECONNRESET || r == -EPIPE) && tries-- > 0);
	if (r == 0 && !report.text)
		r = report_append(inf, &report, "", 0);
	if (r < 0) {
		memory_put(inf, report.text);
		return r;
	}
	*ret_text = report.text;
	if (ret_length)
		*ret_length = report.length;
	return 0;
}
