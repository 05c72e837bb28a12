/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection to the broker: sends and receives packets, and decides when to try again.
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
#define DELAY_STARTING_NS 40000000ull /* while a writer starts or ends */
#define GREETING_NS 5000000000ull
#define SILENCE_NS 500000000ull /* even a busy informerd answers far sooner */
#define FIRST_ANSWER_MS 100
#define PLACES_TEXT 256

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

/* Add a descriptor to the epoll. 0 or negative errno. */
static int
watch(struct informer *inf, int fd)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.fd = fd};

	return epoll_ctl(inf->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static void
close_socket(struct informer *inf, bool in_child)
{
	if (inf->socket < 0)
		return;
	/* shutdown() also ends a copy that a child inherited; a child must not end its parent's. */
	if (!in_child) {
		epoll_ctl(inf->epoll, EPOLL_CTL_DEL, inf->socket, NULL);
		shutdown(inf->socket, SHUT_RDWR);
	}
	close(inf->socket);
	inf->socket = -1;
}

static void
set_reason(struct informer *inf, int failure, const char *reason)
{
	inf->failure = failure;
	snprintf(inf->reason, sizeof(inf->reason), "%s", reason);
}

/* Failures that last until a person acts. */
static bool
needs_a_person(int failure)
{
	return failure == -EACCES || failure == -EPERM || failure == -EPROTO ||
	       failure == INFORMER_E_REFUSED || failure == INFORMER_E_LAYOUT;
}

/* Go DOWN: set the reason (a code and a sentence) and the time of the next attempt. */
static void
go_down(struct informer *inf, int failure, const char *reason)
{
	struct mapping *m = atomic_load_explicit(&inf->current, memory_order_relaxed);
	bool lost = inf->connection == CONNECTION_UP, is_warning;

	set_reason(inf, failure, reason);
	close_socket(inf, false);
	inf->connection = CONNECTION_DOWN;
	if (m)
		atomic_store_explicit(&m->lost, true, memory_order_relaxed);
	inf->hooks->lost(inf);
	inf->delay_ns = lost ? 0 : inf->delay_ns < DELAY_MIN_NS ? DELAY_MIN_NS : inf->delay_ns;
	set_timer(inf, time_ns(CLOCK_MONOTONIC) + inf->delay_ns);
	inf->delay_ns = inf->delay_ns * 2 > DELAY_MAX_NS ? DELAY_MAX_NS : inf->delay_ns * 2;
	/* While there was no arena yet, the caller's calls fail and say why. */
	is_warning = lost || (inf->attaches > 0 && needs_a_person(failure));
	log_retry(inf, is_warning ? INFORMER_LOG_WARNING : INFORMER_LOG_INFO, inf->reason);
}

/* "PATH", or "PATH or PATH". */
static const char *
places_text(const struct informer *inf, char text[PLACES_TEXT])
{
	snprintf(text, PLACES_TEXT, "%s%s%s", inf->places[0].address.sun_path,
		 inf->place_count > 1 ? " or " : "",
		 inf->place_count > 1 ? inf->places[1].address.sun_path : "");
	return text;
}

static int
connection_failed(struct informer *inf, int r)
{
	char text[PLACES_TEXT];

	return error_set(r, "cannot connect to %s: %s%s", places_text(inf, text), errno_text(-r),
			 r == -EACCES                         ? " (is this user in the socket's group?)"
			 : r == -ENOENT || r == -ECONNREFUSED ? " (is informerd running?)"
			 : r == -EAGAIN                       ? " (is it stopped?)"
			 : r == -EPERM                        ? " (another user's program listens there)"
							      : "");
}

static int
connect_to(const struct socket_place *place)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), r = 0;
	struct ucred peer = {0};
	socklen_t length = sizeof(peer);

	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&place->address, sizeof(place->address)) < 0)
		r = -errno;
	else if (place->own && (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0 ||
				(peer.uid != geteuid() && peer.uid != 0)))
		r = -EPERM;
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

int
connection_open(struct informer *inf, unsigned *ret_place)
{
	int r = -ENOENT;

	for (unsigned i = 0; i < inf->place_count; i++) {
		int fd = connect_to(&inf->places[i]);

		*ret_place = i;
		if (fd >= 0)
			return fd;
		/* of two failures, keep the one that is not -ENOENT */
		if (r == -ENOENT)
			r = fd;
	}
	*ret_place = 0;
	return connection_failed(inf, r);
}

/*
 * End the connection over which the current arena came. If informerd hung up, or refused us and will hang up,
 * keep our end open until nothing is read in this mapping (mapping_reap()): informerd honours our pins until
 * we hang up (slot.h).
 */
static void
leave(struct informer *inf, bool they_hung_up)
{
	struct mapping *m = atomic_load_explicit(&inf->current, memory_order_relaxed);

	if (!they_hung_up) {
		/* Our hang-up gives up the slot, so snapshots must expire first: close() orders it. */
		slot_close(m->slot);
		return;
	}
	epoll_ctl(inf->epoll, EPOLL_CTL_DEL, inf->socket, NULL);
	m->socket = inf->socket;
	inf->socket = -1;
}

/*
 * Make an arena current. Its predecessor stays mapped while it is read. If both are the same arena, informerd
 * may stop scanning the old slot, which protects our snapshots: they expire.
 *
 * Returns 0; or negative with a message, and the mapping is freed.
 */
static int
make_current(struct informer *inf, struct mapping *m)
{
	struct mapping *old = atomic_load_explicit(&inf->current, memory_order_relaxed);
	int r = watch(inf, m->event_fd);

	if (r < 0) {
		mapping_free(inf, m);
		return error_set(r, "cannot watch for commits: %s", errno_text(-r));
	}
	if (old) {
		epoll_ctl(inf->epoll, EPOLL_CTL_DEL, old->event_fd, NULL);
		if (old->generation == m->generation &&
		    memcmp(old->incarnation, m->incarnation, sizeof(m->incarnation)) == 0)
			slot_close(old->slot);
	}
	mapping_make_current(inf, m);
	inf->attaches++;
	mapping_reap(inf);
	log_recovered(inf);
	log_say(inf, INFORMER_LOG_INFO, "attached to generation %llu", (unsigned long long)m->generation);
	return 0;
}

/* The handle has nothing to read, and asked for the arena of a dead writer (INFORMER_ORPHAN). */
static bool
wants_orphan(const struct informer *inf)
{
	return inf->flags & INFORMER_ORPHAN && !atomic_load_explicit(&inf->current, memory_order_relaxed);
}

/* Whether a code comes with a message: resources ran out, or something read was refused. */
static bool
has_message(int r)
{
	return r != 0 && r != -ENOENT && r != -EACCES && r != -EBUSY && r != -EAGAIN && r != -ECONNREFUSED;
}

/*
 * Nobody listens. If a writer holds the lock, it starts or ends: try again within DELAY_STARTING_NS. If no
 * writer does, attach to the arena of the last one, if the handle wants it.
 */
static void
nobody_listens(struct informer *inf, int failure)
{
	char reason[PLACES_TEXT + 128], pid_text[32] = "", text[PLACES_TEXT];
	struct mapping *m = NULL;
	long pid = 0;
	int r = orphan_find(inf, wants_orphan(inf) ? &m : NULL, &pid);

	if (r == 0 && m) {
		atomic_store_explicit(&m->lost, true, memory_order_relaxed);
		r = make_current(inf, m);
	}
	if (pid > 0)
		snprintf(pid_text, sizeof(pid_text), " (pid %ld)", pid);
	if (r == -EBUSY) {
		failure = INFORMER_E_NOT_READY;
		snprintf(reason, sizeof(reason), "informerd%s is starting or ending: nobody listens at %s",
			 pid_text, places_text(inf, text));
		if (inf->delay_ns > DELAY_STARTING_NS)
			inf->delay_ns = DELAY_STARTING_NS;
	} else {
		if (has_message(r))
			failure = r;
		informer_error_text(failure, reason, sizeof(reason));
	}
	go_down(inf, failure, reason);
}

/*
 * A writer listens but does not answer. Keeps the time of the first silence over attempts. Returns the code,
 * and its sentence in `reason`.
 */
static int
nobody_answers(struct informer *inf, char *reason, size_t size)
{
	uint64_t now = time_ns(CLOCK_MONOTONIC);
	struct ucred peer = {0};
	socklen_t length = sizeof(peer);
	char pid_text[32] = "";

	if (inf->silent_ns == 0)
		inf->silent_ns = now;
	if (inf->socket >= 0 && getsockopt(inf->socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
	    peer.pid > 0)
		snprintf(pid_text, sizeof(pid_text), " (pid %ld)", (long)peer.pid);
	snprintf(reason, size, "informerd%s has not answered for %llu s: is it stopped?", pid_text,
		 (unsigned long long)((now - inf->silent_ns) / 1000000000u));
	return -ETIMEDOUT;
}

static void
attempt(struct informer *inf)
{
	struct message_hello hello = {
		.layout_major = LAYOUT_MAJOR,
		.layout_minor = LAYOUT_MINOR,
		.flags = inf->flags & INFORMER_VERIFY ? HELLO_WANT_KEYS : 0,
	};
	char reason[sizeof(inf->reason)];
	int fd = connection_open(inf, &inf->place), r;

	if (fd == -ENOENT || fd == -ECONNREFUSED) {
		inf->silent_ns = 0;
		nobody_listens(inf, fd);
		return;
	}
	/* The queue of connections to be accepted is full. */
	if (fd == -EAGAIN) {
		r = nobody_answers(inf, reason, sizeof(reason));
		go_down(inf, r, reason);
		return;
	}
	if (fd < 0) {
		informer_error_text(fd, reason, sizeof(reason));
		go_down(inf, fd, reason);
		return;
	}
	inf->socket = fd;
	message_begin(&hello.head, MESSAGE_HELLO, sizeof(hello));
	memcpy(hello.reader_name, inf->reader_name, sizeof(hello.reader_name));
	r = send(fd, &hello, sizeof(hello), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
	/* A broker that refuses us at once has hung up already; its packet is still in the socket. */
	if (r == 0 || r == -EPIPE || r == -ECONNRESET)
		r = watch(inf, fd);
	if (r < 0) {
		snprintf(reason, sizeof(reason), "cannot greet informerd: %s", errno_text(-r));
		go_down(inf, r, reason);
		return;
	}
	inf->connection = CONNECTION_GREETING;
	inf->greeting_ns = time_ns(CLOCK_MONOTONIC);
	set_timer(inf, inf->greeting_ns + SILENCE_NS);
}

/* In GREETING: the answer did not come in time. */
static void
greeting_is_late(struct informer *inf)
{
	uint64_t now = time_ns(CLOCK_MONOTONIC);
	char reason[sizeof(inf->reason)];
	int r;

	if (inf->silent_ns == 0)
		inf->silent_ns = inf->greeting_ns;
	r = nobody_answers(inf, reason, sizeof(reason));
	if (now >= inf->greeting_ns + GREETING_NS) {
		go_down(inf, r, reason);
		return;
	}
	set_reason(inf, r, reason);
	set_timer(inf, now + SILENCE_NS);
}

/* WELCOME came. Takes over the descriptors. */
static void
receive_arena(struct informer *inf, const struct message_welcome *welcome,
	      const int fds[PROTOCOL_DESCRIPTORS])
{
	struct mapping *m;
	int r = mapping_new(inf, fds, welcome, &m);
	char reason[sizeof(inf->reason)];

	if (r == 0)
		r = make_current(inf, m);
	if (r < 0) {
		informer_error_text(r, reason, sizeof(reason));
		go_down(inf, r == -EAGAIN ? INFORMER_E_NOT_READY : r, reason);
		return;
	}
	inf->hooks->attached(inf);
	inf->places[0] = inf->places[inf->place];
	inf->place = 0;
	inf->place_count = 1;
	inf->connection = CONNECTION_UP;
	inf->delay_ns = inf->silent_ns = 0;
	inf->failure = 0;
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
 * Receive one packet. Returns its length, 0 at hang-up, or negative errno. *ret_count: descriptors that came
 * with it; 0 with *ret_no_room if this process could not open all of them.
 */
static ssize_t
receive(int socket, union packet *packet, int fds[PROTOCOL_DESCRIPTORS], unsigned *ret_count,
	bool *ret_no_room)
{
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(sizeof(int) * PROTOCOL_DESCRIPTORS)];
	} control;
	struct iovec io = {packet, sizeof(*packet)};
	/* not sizeof(control): CMSG_SPACE is rounded up, and the kernel would pass one more */
	struct msghdr message = {.msg_iov = &io,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = CMSG_LEN(sizeof(int) * PROTOCOL_DESCRIPTORS)};
	ssize_t n;

	*ret_count = 0;
	*ret_no_room = false;
	do
		n = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
		size_t bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		/* msg_controllen limits `bytes` to the size of fds */
		memcpy(fds, CMSG_DATA(c), bytes);
		*ret_count = (unsigned)(bytes / sizeof(int));
	}
	/* cut short though the buffer had space: this process could not open all of them */
	*ret_no_room = message.msg_flags & MSG_CTRUNC && *ret_count < PROTOCOL_DESCRIPTORS;
	while (*ret_no_room && *ret_count > 0)
		close(fds[--*ret_count]);
	return message.msg_flags & MSG_TRUNC ? (ssize_t)sizeof(*packet) + 1 : n;
}

/* Handle one packet. Returns false when there is none. */
static bool
receive_step(struct informer *inf)
{
	int fds[PROTOCOL_DESCRIPTORS];
	char reason[sizeof(inf->reason)];
	union packet packet;
	bool refused;
	unsigned count;
	bool no_room;
	ssize_t n = receive(inf->socket, &packet, fds, &count, &no_room);
	int failure = INFORMER_E_NOT_READY;

	if (n == -EAGAIN)
		return false;
	if (n > 0 && inf->connection == CONNECTION_GREETING &&
	    message_ok(&packet, (size_t)n, sizeof(packet.welcome)) && count == PROTOCOL_DESCRIPTORS &&
	    packet.head.type == MESSAGE_WELCOME) {
		receive_arena(inf, &packet.welcome, fds);
		return true;
	}
	if (n > 0 && inf->connection == CONNECTION_UP &&
	    inf->hooks->receive(inf, &packet, (size_t)n, no_room ? NULL : fds, count))
		return true;
	for (unsigned i = 0; i < count; i++)
		close(fds[i]);
	refused = n > 0 && message_ok(&packet, (size_t)n, sizeof(struct message_refused)) &&
		  packet.head.type == MESSAGE_REFUSED;
	if (refused) {
		failure = message_refusal(&packet, (size_t)n);
		informer_error_text(failure, reason, sizeof(reason));
		/* INFORMER_E_NOT_READY passes soon; other refusals last longer. */
		if (failure != INFORMER_E_NOT_READY)
			inf->delay_ns = DELAY_MAX_NS;
	} else if (no_room) {
		failure = -EMFILE;
		snprintf(reason, sizeof(reason), "cannot take the descriptors that informerd sends: %s",
			 errno_text(EMFILE));
	} else if (n > 0) {
		failure = -EPROTO;
		snprintf(reason, sizeof(reason),
			 "informerd sent a packet that makes no sense: is it of another release?");
		inf->delay_ns = DELAY_MAX_NS;
	} else {
		snprintf(reason, sizeof(reason), "informerd closed the connection%s%s", n < 0 ? ": " : "",
			 n < 0 ? strerror((int)-n) : "");
	}
	if (inf->connection == CONNECTION_UP)
		leave(inf, n <= 0 || refused);
	go_down(inf, failure, reason);
	return true;
}

bool
connection_step(struct informer *inf)
{
	struct mapping *m = atomic_load_explicit(&inf->current, memory_order_relaxed);
	bool changed = false;
	uint64_t count;

	/* the answer may have come already, and only this thread is late */
	if (read(inf->timer, &count, sizeof(count)) > 0 && inf->connection == CONNECTION_GREETING) {
		while (inf->connection == CONNECTION_GREETING && receive_step(inf))
			changed = true;
		if (inf->connection == CONNECTION_GREETING)
			greeting_is_late(inf);
	}
	if (m && read(m->event_fd, &count, sizeof(count)) > 0)
		changed = true;
	/* Twice: an attempt follows a hang-up at once. The inner loop ends with what the broker sent. */
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
	while (inf->connection == CONNECTION_GREETING ||
	       (inf->connection == CONNECTION_DOWN && inf->failure == INFORMER_E_NOT_READY)) {
		struct pollfd p = {.fd = inf->epoll, .events = POLLIN};
		uint64_t now = time_ns(CLOCK_MONOTONIC);

		if (now >= end || poll(&p, 1, (int)((end - now) / 1000000u) + 1) <= 0)
			break;
		connection_dispatch(inf);
	}
}

void
handle_done(struct informer *inf, bool in_child)
{
	close_socket(inf, in_child);
	mappings_done(inf, in_child);
	handle_close(inf, in_child);
}
