/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles a client of the broker: its greeting, its report, its attachment. broker_drop.c ends the client.
 *
 *	GREETING ──HELLO──▶ ATTACHED (broker_subscribe.c handles its packets)
 *	   │  ▲
 *	  STAT └── all sent ── REPORTING
 *
 * The kernel refuses descriptors that a client sends (broker.c), or drops them, because we receive without
 * room for any.
 *
 * A client uses the room of one packet, plus at most one report; the number of waiting reports is limited
 * (broker_room.c). A client that does not greet, or does not take what was sent, within BROKER_DEADLINE_MS is
 * dropped. A client that sends without pause takes turns with the others (broker_turn.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm-layout/header_check.h"
#include "writer/serve/broker_internal.h"
#include "writer/base/log.h"

#define OVERFLOW_UID 65534u /* how the kernel shows users that this user namespace does not have */

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#define PIECE_BYTES 32768u
/*
 * Send buffer for answers that a client has not taken; the kernel doubles it. The most at once are the
 * answers to SUBSCRIBE: one for each queue, some 1 KiB each.
 */
#define UNTAKEN_BYTES 65536

static void on_packet(void *client, uint32_t events);

/* ---- admission ---- */

static void
on_death(void *client, uint32_t events)
{
	struct client *c = client;

	(void)events;
	broker_forget_process(c->broker, c->peer.pid);
	client_drop(c);
}

/*
 * Watch the peer's process as well as its connection, which a child process may keep open. A process that we
 * cannot see (pid 0, another pid namespace) is watched by its connection alone.
 */
static void
follow_process(struct client *c)
{
	socklen_t bytes = sizeof(c->pidfd);

	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERPIDFD, &c->pidfd, &bytes) < 0)
		c->pidfd = c->peer.pid > 0 ? (int)syscall(SYS_pidfd_open, c->peer.pid, 0) : -1;
	c->death = (struct heard){on_death, c};
	if (c->pidfd >= 0 && turn_add(c->broker, c->pidfd, EPOLLIN, &c->death) < 0) {
		close(c->pidfd);
		c->pidfd = -1;
	}
}

const char *
broker_why_not(int error)
{
	switch (error) {
	case -EUSERS:
		return "all are taken";
	case -EMFILE:
		return "too many open files: raise informerd's limit (ulimit -n, LimitNOFILE=)";
	case -ENFILE:
		return "too many open files on this machine: raise fs.file-max";
	case -ENOSPC:
		return "too many descriptors are watched: raise fs.epoll.max_user_watches";
	default:
		return strerror(-error);
	}
}

void
client_turn_away(struct broker *b, int fd, const struct ucred *peer, enum refusal code, const char *text)
{
	connection_refuse(fd, code, text);
	close(fd);
	b->stats.refused++;
	if (broker_may_tell(b))
		log_info("connection of pid %ld (uid %lu) refused: %s", (long)peer->pid,
			 (unsigned long)peer->uid, text);
}

/* Send the client a refusal, then drop the client. */
static void
client_refuse(struct client *c, enum refusal code, const char *text)
{
	connection_refuse(c->fd, code, text);
	if (broker_may_tell(c->broker))
		log_info("reader (pid %ld, uid %lu) refused: %s", (long)c->peer.pid,
			 (unsigned long)c->peer.uid, text);
	c->broker->stats.refused++;
	client_drop(c);
}

/* Refuse a client (or NULL) whose place another client needs. BUSY tells a slow client to try again. */
static void
make_way(struct client *in_way, const char *why)
{
	if (in_way)
		client_refuse(in_way, REFUSED_BUSY, why);
}

static void
bound_what_is_untaken(int fd)
{
	int bytes = UNTAKEN_BYTES;

	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

/* True if the peer may connect. Otherwise it is refused before it counts towards a limit. */
static bool
let_in(struct broker *b, const struct ucred *peer, int fd)
{
	char text[200];

	if (!peer_is_allowed(b, peer, fd)) {
		if (peer->uid == OVERFLOW_UID)
			snprintf(text, sizeof(text),
				 "user %u may not attach: it is nobody, or any user outside of informerd's "
				 "user namespace (informer-kubernetes(7))",
				 OVERFLOW_UID);
		else
			snprintf(text, sizeof(text),
				 "user %lu may not attach: allow it with --allow-uid %lu or access.uids, or "
				 "one of its groups with --allow-gid or access.gids",
				 (unsigned long)peer->uid, (unsigned long)peer->uid);
		b->stats.denied++;
		client_turn_away(b, fd, peer, REFUSED_PERMISSION, text);
		return false;
	}
	if (!peer_is_privileged(peer) && !room_for_descriptor(fd)) {
		client_turn_away(b, fd, peer, REFUSED_FULL, broker_why_not(-EMFILE));
		return false;
	}
	return true;
}

void
client_new(struct broker *b, int fd)
{
	struct client *c = calloc(1, sizeof(*c));
	struct ucred peer = {.uid = (uid_t)-1};
	socklen_t bytes = sizeof(peer);
	int r;

	if (!c || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0) {
		b->stats.refused++;
		free(c);
		close(fd);
		return;
	}
	if (!let_in(b, &peer, fd)) {
		free(c);
		return;
	}
	c->connection = (struct heard){on_packet, c};
	r = turn_add(b, fd, EPOLLIN | EPOLLRDHUP, &c->connection);
	if (r < 0) {
		free(c);
		client_turn_away(b, fd, &peer, REFUSED_FULL, broker_why_not(r));
		return;
	}
	bound_what_is_untaken(fd);
	make_way(room_pending_in_way(b), "others came, and it had not said what it wants");
	c->broker = b;
	c->fd = fd;
	c->peer = peer;
	c->pidfd = c->event_fd = -1;
	c->privileged = peer_is_privileged(&peer);
	room_enter(c);
	c->next = b->clients;
	if (c->next)
		c->next->previous = c;
	b->clients = c;
	follow_process(c);
	client_set_deadline(c);
}

/* ---- sending ---- */

/* Send the arena, the client's slot and its eventfd; and the keys if wanted. 0 or negative errno. */
static int
welcome(struct client *c, bool want_keys)
{
	const struct arena *arena = c->broker->options.source.arena;
	struct message_welcome message = {.generation = arena->header->generation, .slot_bytes = SLOT_BYTES};
	int slot_fd = file_open_again(c->slot_fd, O_RDWR), r;
	int fds[PROTOCOL_DESCRIPTORS] = {c->broker->arena_fd, slot_fd, c->event_fd};

	if (slot_fd < 0)
		return slot_fd;

	message_head_init(&message.head, MESSAGE_WELCOME, sizeof(message));
	if (want_keys) {
		_Static_assert(sizeof(arena->keys) == sizeof(message.keys), "protocol: keys");
		memcpy(message.keys, &arena->keys, sizeof(message.keys));
		message.has_keys = 1;
	}
	r = client_send_fds(c, &message, sizeof(message), fds, PROTOCOL_DESCRIPTORS);
	close(slot_fd);
	return r;
}

static void
send_report(struct client *c)
{
	union {
		struct message_head head;
		char bytes[sizeof(struct message_head) + PIECE_BYTES];
	} packet;

	for (;;) {
		size_t left = c->report_length - c->report_sent, n = left < PIECE_BYTES ? left : PIECE_BYTES;

		message_head_init(&packet.head, MESSAGE_REPORT, sizeof(packet.head) + n);
		packet.head.more = n < left;
		memcpy(packet.bytes + sizeof(packet.head), c->report + c->report_sent, n);
		if (send(c->fd, &packet, packet.head.length, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
			if (errno == EAGAIN)
				client_listen(c, EPOLLOUT);
			else
				client_drop(c);
			return;
		}
		client_set_deadline(c);
		c->report_sent += n;
		if (!packet.head.more)
			break;
	}
	free(c->report);
	c->report = NULL;
	c->state = CLIENT_GREETING;
	client_listen(c, EPOLLIN);
}

/* ---- receiving ---- */

/* Make the client's eventfd and slot. 0 or negative errno. */
static int
equip(struct client *c)
{
	c->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->event_fd < 0)
		return -errno;
	return pins_add(client_pins(c), broker_epoch(c->broker), &c->slot, &c->slot_fd);
}

/* True if there is room. If there is none, first discard leftovers that were closed meanwhile. */
static bool
finds_room(const struct client *c, char *text, size_t size)
{
	if (room_for_reader(c->broker, c, text, size))
		return true;
	leftovers_look(c->broker, &c->peer.uid);
	leftovers_look(c->broker, NULL);
	return room_for_reader(c->broker, c, text, size);
}

static void
attach(struct client *c, const struct message_hello *hello)
{
	struct broker *b = c->broker;
	const struct header *header = b->options.source.arena->header;
	const char *barred = client_is_barred(c);
	int r;
	char text[300], why[HEADER_WHY_BYTES];

	if (barred) {
		client_refuse(c, REFUSED_BUSY, barred);
		return;
	}
	if (!layout_is_readable(hello->layout_major, hello->layout_minor, header, why)) {
		snprintf(text, sizeof(text), "the arena cannot be read: %s; informerd is release %s", why,
			 INFORMER_VERSION);
		client_refuse(c, REFUSED_LAYOUT, text);
		return;
	}
	if (!finds_room(c, text, sizeof(text))) {
		client_refuse(c, REFUSED_FULL, text);
		return;
	}
	r = equip(c);
	if (r < 0) {
		snprintf(text, sizeof(text), "no slot: %s", broker_why_not(r));
		client_refuse(c, REFUSED_FULL, text);
		return;
	}
	/* Register the reader before it can use its slot. */
	name_take(c->name, hello->reader_name, sizeof(c->name));
	c->state = CLIENT_ATTACHED;
	wake_join(c);
	c->deadline_ms = 0;
	room_leave(c);
	b->stats.readers++;
	b->stats.attached++;
	if (welcome(c, hello->flags & HELLO_WANT_KEYS) < 0)
		client_drop(c);
}

static void
report(struct client *c)
{
	struct broker *b = c->broker;

	make_way(room_report_in_way(b), "others asked, and it had not taken its report");
	c->report = b->options.report ? b->options.report(b->options.context) : NULL;
	if (!c->report) {
		client_refuse(c, REFUSED_BUSY, "no report can be made at the moment");
		return;
	}
	c->report_length = strlen(c->report);
	c->report_sent = 0;
	c->state = CLIENT_REPORTING;
	send_report(c);
}

static void
take_packet(struct client *c)
{
	union {
		struct message_head head;
		struct message_hello hello;
		struct message_subscribe subscribe;
		char bytes[1024];
	} packet;
	ssize_t n = recv(c->fd, &packet, sizeof(packet), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		client_drop(c);
		return;
	}
	if (c->state == CLIENT_ATTACHED) {
		client_speaks(c, &packet.head, (size_t)n);
		return;
	}
	if ((size_t)n < sizeof(packet.head) || (size_t)n > sizeof(packet) ||
	    packet.head.magic != PROTOCOL_MAGIC || packet.head.length != (size_t)n) {
		client_refuse(c, REFUSED_PROTOCOL, "that is not informer's protocol");
		return;
	}
	if (packet.head.version != PROTOCOL_VERSION) {
		client_refuse(c, REFUSED_LAYOUT,
			      "another protocol version: install library and informerd from one release");
		return;
	}
	if (packet.head.type == MESSAGE_HELLO && (size_t)n >= sizeof(packet.hello))
		attach(c, &packet.hello);
	else if (packet.head.type == MESSAGE_STAT)
		report(c);
	else
		client_refuse(c, REFUSED_PROTOCOL, "no such message");
}

/* EPOLLERR: the client hung up with answers unread. A DROPPED client is watched for its hang-up alone. */
static void
on_packet(void *client, uint32_t events)
{
	struct client *c = client;

	if ((events & EPOLLOUT) && !(events & EPOLLERR))
		send_report(c);
	else if ((events & EPOLLIN) && !(events & EPOLLERR))
		take_packet(c);
	else
		client_drop(c);
}
