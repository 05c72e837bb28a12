/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection to the broker: what is sent and received, and when it is tried again.
 */
#include "reader-lib/attach/connection.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "reader-lib/attach/mapping.h"
#include "reader-lib/attach/broker_message.h"
#include "reader-lib/attach/orphan.h"
#include "shm-layout/time_ns.h"

#define DELAY_MIN_NS 10000000ull
#define DELAY_MAX_NS 1000000000ull
#define GREETING_NS 5000000000ull
#define FIRST_ANSWER_MS 100

/* Make informer_fd() readable at this time. */
static void
set_timer(struct informer *inf, uint64_t at_ns)
{
	struct itimerspec when = {0};

	when.it_value.tv_sec = (time_t)(at_ns / 1000000000u);
	when.it_value.tv_nsec = (long)(at_ns % 1000000000u);
	if (at_ns == 0)
		when.it_value.tv_nsec = 1;
	inf->attempt_ns = at_ns;
	timerfd_settime(inf->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

void
connection_timer(struct informer *inf, uint64_t at_ns)
{
	if (inf->connection == CONNECTION_UP && at_ns < inf->attempt_ns)
		set_timer(inf, at_ns);
}

static void
watch(struct informer *inf, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.fd = fd};

	epoll_ctl(inf->epoll, EPOLL_CTL_ADD, fd, &event);
}

void
connection_close(struct informer *inf, bool in_child)
{
	if (inf->socket < 0)
		return;
	/*
	 * The parent's connection is not ours to end; and one that a child inherited must not outlive our
	 * detach.
	 */
	if (!in_child) {
		epoll_ctl(inf->epoll, EPOLL_CTL_DEL, inf->socket, NULL);
		shutdown(inf->socket, SHUT_RDWR);
	}
	close(inf->socket);
	inf->socket = -1;
}

/* Back to DOWN, with the reason (a sentence) and the time of the next attempt. */
static void
go_down(struct informer *inf, const char *reason)
{
	struct mapping *m = atomic_load_explicit(&inf->current, memory_order_relaxed);
	bool lost = inf->connection == CONNECTION_UP, new_reason = strcmp(inf->reason, reason) != 0;

	connection_close(inf, false);
	inf->connection = CONNECTION_DOWN;
	if (m)
		atomic_store_explicit(&m->lost, true, memory_order_relaxed);
	inf->hooks->lost(inf);
	if (inf->reason != reason)
		snprintf(inf->reason, sizeof(inf->reason), "%s", reason);
	inf->delay_ns = lost ? 0 : inf->delay_ns < DELAY_MIN_NS ? DELAY_MIN_NS : inf->delay_ns;
	set_timer(inf, time_ns(CLOCK_MONOTONIC) + inf->delay_ns);
	inf->delay_ns = inf->delay_ns * 2 > DELAY_MAX_NS ? DELAY_MAX_NS : inf->delay_ns * 2;
	if (lost || new_reason)
		log_say(inf, lost ? INFORMER_LOG_WARNING : INFORMER_LOG_INFO, "%s", inf->reason);
}

int
connection_open(struct informer *inf, bool nonblocking)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | (nonblocking ? SOCK_NONBLOCK : 0), 0),
	    r = -ENOENT;

	if (fd < 0)
		return -errno;
	for (unsigned i = 0; i < inf->address_count; i++) {
		if (connect(fd, (const struct sockaddr *)&inf->addresses[i], sizeof(inf->addresses[i])) == 0)
			return fd;
		/* of two failures the more telling one is kept */
		if (r == -ENOENT)
			r = -errno;
	}
	close(fd);
	return r;
}

/*
 * The connection ends, and the arena that came over it is current. When informerd hung up, it is gone, or
 * wants to be rid of us; then it looks at our slot until we hang up in turn (slot.h): so the connection stays
 * open until nothing is read in this mapping any more (mapping_reap()).
 */
static void
leave(struct informer *inf, bool they_hung_up)
{
	struct mapping *m = atomic_load_explicit(&inf->current, memory_order_relaxed);

	if (!they_hung_up) {
		/* Our slot ends with the connection. What is read is told so first: close() orders it. */
		slot_close(m->slot);
		return;
	}
	epoll_ctl(inf->epoll, EPOLL_CTL_DEL, inf->socket, NULL);
	m->socket = inf->socket;
	inf->socket = -1;
}

/*
 * Make an arena current. Its predecessor stays mapped for as long as it is read.
 * When it is the very arena we had, the slot we had may be looked at no more, and with it goes what protected
 * our snapshots: they expire.
 */
static void
make_current(struct informer *inf, struct mapping *m)
{
	struct mapping *old = atomic_load_explicit(&inf->current, memory_order_relaxed);

	if (old) {
		epoll_ctl(inf->epoll, EPOLL_CTL_DEL, old->event_fd, NULL);
		if (old->generation == m->generation &&
		    memcmp(old->incarnation, m->incarnation, sizeof(m->incarnation)) == 0)
			slot_close(old->slot);
	}
	m->next = inf->mappings;
	inf->mappings = m;
	/*
	 * Meets the loads in claim() (snapshot.c), arm() and arm_for_handlers(): the mapping was filled
	 * before it is found. seq_cst, with the fence in mapping_reap() below: who claimed a cell in the
	 * old mapping either sees the new one at R1', or has its cell seen there.
	 */
	atomic_store_explicit(&inf->current, m, memory_order_seq_cst);
	watch(inf, m->event_fd);
	inf->attaches++;
	mapping_reap(inf);
	log_say(inf, INFORMER_LOG_INFO, "attached to generation %llu", (unsigned long long)m->generation);
}

/*
 * Nobody listens, and there is nothing to read: what a writer that is gone has left, for those who asked for
 * it.
 */
static void
take_orphan(struct informer *inf)
{
	struct mapping *m;

	if (!(inf->flags & INFORMER_ORPHAN) || atomic_load_explicit(&inf->current, memory_order_relaxed) ||
	    orphan_find(inf, &m) < 0)
		return;
	atomic_store_explicit(&m->lost, true, memory_order_relaxed);
	make_current(inf, m);
}

static void
attempt(struct informer *inf)
{
	struct message_hello hello = {
		.layout_major = LAYOUT_MAJOR,
		.layout_minor = LAYOUT_MINOR,
		.flags = inf->flags & INFORMER_VERIFY ? HELLO_WANT_KEYS : 0,
	};
	char reason[2 * sizeof(inf->addresses[0].sun_path) + 128];
	int fd = connection_open(inf, true);

	if (fd < 0) {
		snprintf(reason, sizeof(reason), "cannot connect to %s%s%s: %s%s", inf->addresses[0].sun_path,
			 inf->address_count > 1 ? " or " : "",
			 inf->address_count > 1 ? inf->addresses[1].sun_path : "", strerror(-fd),
			 fd == -EACCES                          ? " (is this user in the socket's group?)"
			 : fd == -ENOENT || fd == -ECONNREFUSED ? " (is informerd running?)"
								: "");
		go_down(inf, reason);
		take_orphan(inf);
		return;
	}
	inf->socket = fd;
	message_begin(&hello.head, MESSAGE_HELLO, sizeof(hello));
	memcpy(hello.reader_name, inf->reader_name, sizeof(hello.reader_name));
	if (send(fd, &hello, sizeof(hello), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		snprintf(reason, sizeof(reason), "cannot greet informerd: %s", strerror(errno));
		go_down(inf, reason);
		return;
	}
	inf->connection = CONNECTION_GREETING;
	watch(inf, fd);
	set_timer(inf, time_ns(CLOCK_MONOTONIC) + GREETING_NS);
}

/* WELCOME or MOVED. The descriptors are ours. */
static void
receive_arena(struct informer *inf, const struct message_welcome *welcome,
	      const int fds[PROTOCOL_DESCRIPTORS])
{
	struct mapping *m;
	int r = mapping_new(inf, fds, welcome, &m);
	char reason[sizeof(inf->reason)];

	if (r < 0) {
		informer_last_error(inf, reason, sizeof(reason));
		go_down(inf, reason);
		return;
	}
	make_current(inf, m);
	inf->hooks->moved(inf, inf->connection == CONNECTION_UP);
	inf->connection = CONNECTION_UP;
	inf->delay_ns = 0;
	inf->reason[0] = '\0';
	/* No timer while we are up. */
	timerfd_settime(inf->timer, 0, &(struct itimerspec){0}, NULL);
	inf->attempt_ns = UINT64_MAX;
}

union packet {
	struct message_head head;
	struct message_welcome welcome;
	char bytes[1024];
};

/*
 * Receive one packet. Returns its length, 0 at hang-up, or negative errno; *ret_fds descriptors came with
 * it.
 */
static ssize_t
receive(int socket, union packet *packet, int fds[PROTOCOL_DESCRIPTORS], unsigned *ret_count)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * PROTOCOL_DESCRIPTORS)];
	} control;
	struct iovec io = {packet, sizeof(*packet)};
	struct msghdr message = {
		.msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	ssize_t n;

	*ret_count = 0;
	do
		n = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
		size_t bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		/* the buffer holds no more than these */
		memcpy(fds, CMSG_DATA(c), bytes);
		*ret_count = (unsigned)(bytes / sizeof(int));
	}
	return message.msg_flags & MSG_TRUNC ? (ssize_t)sizeof(*packet) + 1 : n;
}

/* Handle one packet. Returns false when there is none. */
static bool
receive_step(struct informer *inf)
{
	int fds[PROTOCOL_DESCRIPTORS];
	char reason[sizeof(inf->reason)];
	union packet packet;
	unsigned count;
	ssize_t n = receive(inf->socket, &packet, fds, &count);

	if (n == -EAGAIN)
		return false;
	if (n > 0 && message_ok(&packet, (size_t)n, sizeof(packet.welcome)) &&
	    count == PROTOCOL_DESCRIPTORS &&
	    packet.head.type == (inf->connection == CONNECTION_UP ? MESSAGE_MOVED : MESSAGE_WELCOME)) {
		receive_arena(inf, &packet.welcome, fds);
		return true;
	}
	if (n > 0 && inf->connection == CONNECTION_UP &&
	    inf->hooks->receive(inf, &packet, (size_t)n, fds, count))
		return true;
	for (unsigned i = 0; i < count; i++)
		close(fds[i]);
	if (n > 0 && message_ok(&packet, (size_t)n, sizeof(struct message_refused)) &&
	    packet.head.type == MESSAGE_REFUSED) {
		message_refusal(inf, &packet, (size_t)n);
		informer_last_error(inf, reason, sizeof(reason));
		/* Who is busy will soon not be; for the rest somebody must act. */
		if (((const struct message_refused *)(const void *)&packet)->code != REFUSED_BUSY)
			inf->delay_ns = DELAY_MAX_NS;
	} else if (n > 0) {
		snprintf(reason, sizeof(reason),
			 "informerd sent a packet that makes no sense: is it of another release?");
		inf->delay_ns = DELAY_MAX_NS;
	} else {
		snprintf(reason, sizeof(reason), "informerd closed the connection%s%s", n < 0 ? ": " : "",
			 n < 0 ? strerror((int)-n) : "");
	}
	if (inf->connection == CONNECTION_UP)
		leave(inf, n <= 0);
	go_down(inf, reason);
	return true;
}

bool
connection_step(struct informer *inf)
{
	struct mapping *m = atomic_load_explicit(&inf->current, memory_order_relaxed);
	bool changed = false;
	uint64_t count;

	if (read(inf->timer, &count, sizeof(count)) > 0 && inf->connection == CONNECTION_GREETING)
		go_down(inf, "informerd does not answer");
	if (m && read(m->event_fd, &count, sizeof(count)) > 0)
		changed = true;
	/* Twice: a hang-up is followed by an attempt at once. Bounded otherwise by what the broker sent. */
	for (unsigned round = 0; round < 2; round++) {
		if (inf->connection == CONNECTION_DOWN && time_ns(CLOCK_MONOTONIC) >= inf->attempt_ns)
			attempt(inf);
		while (inf->connection != CONNECTION_DOWN && receive_step(inf))
			changed = true;
	}
	changed |= atomic_load_explicit(&inf->current, memory_order_relaxed) != m;
	if (inf->connection == CONNECTION_UP && inf->attempt_ns != UINT64_MAX &&
	    time_ns(CLOCK_MONOTONIC) >= inf->attempt_ns)
		inf->attempt_ns = UINT64_MAX;
	inf->hooks->step(inf);
	if (inf->mappings && inf->mappings->next)
		mapping_reap(inf);
	return changed;
}

bool
connection_dispatch(struct informer *inf)
{
	eventfd_t count;
	bool changed;

	pthread_mutex_lock(&inf->lock);
	changed = eventfd_read(inf->untold, &count) == 0;
	if (connection_step(inf))
		changed = true;
	pthread_mutex_unlock(&inf->lock);
	return changed;
}

void
connection_first_attempt(struct informer *inf)
{
	uint64_t end = time_ns(CLOCK_MONOTONIC) + FIRST_ANSWER_MS * 1000000ull;

	connection_dispatch(inf);
	while (inf->connection == CONNECTION_GREETING) {
		struct pollfd p = {.fd = inf->socket, .events = POLLIN};
		uint64_t now = time_ns(CLOCK_MONOTONIC);

		if (now >= end || poll(&p, 1, (int)((end - now) / 1000000u) + 1) <= 0)
			break;
		connection_dispatch(inf);
	}
}
