/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One client of the broker: its greeting, and what it is given. Its end is broker_drop.c's.
 *
 *	GREETING ──HELLO──▶ ATTACHED (broker_subscribe.c hears what it says)
 *	   │  ▲
 *	  STAT └── all sent ── REPORTING
 *
 * It is received from without a control buffer, so descriptors that a client sends are dropped by the kernel.
 * A client has one packet's room at most in our memory, plus one report. Whoever does not greet, or does not
 * take what was sent, within BROKER_DEADLINE_MS is dropped.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "writer/serve/broker_internal.h"
#include "writer/base/log.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#define PIECE_BYTES 32768u

static void on_packet(uv_poll_t *poll, int status, int events);

/* ---- life ---- */

static void
on_death(uv_poll_t *poll, int status, int events)
{
	struct client *c = poll->data;

	(void)status;
	(void)events;
	client_drop(c);
}

/*
 * Watch the peer's process besides its connection: a child of it may keep the latter open. A process that we
 * cannot see (pid 0, another pid namespace) is watched by its connection alone.
 */
static void
follow_process(struct client *c)
{
	socklen_t bytes = sizeof(c->pidfd);

	if (getsockopt(c->fd, SOL_SOCKET, SO_PEERPIDFD, &c->pidfd, &bytes) < 0)
		c->pidfd = c->peer.pid > 0 ? (int)syscall(SYS_pidfd_open, c->peer.pid, 0) : -1;
	if (c->pidfd < 0)
		return;
	if (uv_poll_init(c->broker->loop, &c->death, c->pidfd) < 0) {
		close(c->pidfd);
		c->pidfd = -1;
		return;
	}
	c->death.data = c;
	c->has_death = true;
	c->open_handles++;
	uv_poll_start(&c->death, UV_READABLE, on_death);
}

static void
listen_for(struct client *c, int events)
{
	uv_poll_start(&c->poll, events | UV_DISCONNECT, on_packet);
}

void
client_new(struct broker *b, int fd)
{
	struct client *c = calloc(1, sizeof(*c));
	socklen_t bytes = sizeof(c->peer);

	if (!c || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &c->peer, &bytes) < 0 ||
	    b->pending >= BROKER_PENDING_MAX || broker_pending_of(b, c->peer.uid) >= BROKER_PENDING_UID_MAX ||
	    uv_poll_init(b->loop, &c->poll, fd) < 0) {
		b->stats.refused++;
		free(c);
		close(fd);
		return;
	}
	c->broker = b;
	c->fd = fd;
	c->pidfd = -1;
	c->poll.data = c;
	c->open_handles = 1;
	c->privileged = c->peer.uid == 0 || c->peer.uid == geteuid();
	c->admitted = peer_is_allowed(b, &c->peer, fd);
	b->open_handles++;
	b->pending++;
	c->next = b->clients;
	if (c->next)
		c->next->previous = c;
	b->clients = c;
	follow_process(c);
	client_set_deadline(c);
	listen_for(c, UV_READABLE);
}

/* ---- sending ---- */

static void
refuse(struct client *c, enum refusal code, const char *text)
{
	size_t length = strlen(text);
	struct message_refused message = {.code = code, .text_length = (uint32_t)length};
	struct iovec io[2] = {{&message, sizeof(message)}, {(void *)(uintptr_t)text, length}};
	struct msghdr packet = {.msg_iov = io, .msg_iovlen = 2};

	message_head_init(&message.head, MESSAGE_REFUSED, sizeof(message) + length);
	sendmsg(c->fd, &packet, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (broker_may_tell(c->broker))
		log_info("reader (pid %ld, uid %lu) refused: %s", (long)c->peer.pid,
			 (unsigned long)c->peer.uid, text);
	c->broker->stats.refused++;
	client_drop(c);
}

/* Send the arena, the client's slot and its eventfd. Returns 0 or negative errno. */
static int
send_arena(struct client *c, enum message_type type, const struct arena *arena, int arena_fd, int slot_fd)
{
	struct message_welcome welcome = {.generation = arena->header->generation, .slot_bytes = SLOT_BYTES};
	int fds[PROTOCOL_DESCRIPTORS] = {arena_fd, slot_fd, c->waker->fd};

	message_head_init(&welcome.head, type, sizeof(welcome));
	if (c->want_keys) {
		_Static_assert(sizeof(arena->keys) == sizeof(welcome.keys), "protocol: keys");
		memcpy(welcome.keys, &arena->keys, sizeof(welcome.keys));
		welcome.has_keys = 1;
	}
	return client_send_fds(c, &welcome, sizeof(welcome), fds, PROTOCOL_DESCRIPTORS);
}

void
client_move(struct client *c)
{
	struct broker_source source;
	unsigned slot = 0;
	int arena_fd, slot_fd = -1, r;

	r = broker_source(c->broker, &source, &arena_fd);
	if (r == 0)
		r = pins_add(source.pins, source.epoch, &slot, &slot_fd);
	if (r < 0) {
		client_drop_for(c, "there is no room for it in the new generation");
		return;
	}
	r = send_arena(c, MESSAGE_MOVED, source.arena, arena_fd, slot_fd);
	client_unsubscribe_all(c);
	pins_remove(c->pins, c->slot);
	c->pins = source.pins;
	c->slot = slot;
	wake_moved(c);
	c->generation = source.arena->header->generation;
	c->moved = r == -EAGAIN;
	if (c->moved) {
		/* Its old slot is gone with the old generation; the new one waits here until the client takes
		 * it. What it says meanwhile waits too: no answer may come before this one. */
		client_set_deadline(c);
		listen_for(c, UV_WRITABLE);
	} else if (r < 0) {
		client_drop_for(c, "the new generation could not be sent");
	} else {
		c->deadline_ms = 0;
		listen_for(c, UV_READABLE);
	}
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
				return;
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
	listen_for(c, UV_READABLE);
}

/* ---- receiving ---- */


static void
attach(struct client *c, const struct message_hello *hello)
{
	struct broker *b = c->broker;
	struct broker_source source;
	int arena_fd, slot_fd = -1, r;
	char text[200];

	if (hello->layout_major != LAYOUT_MAJOR) {
		snprintf(
			text, sizeof(text),
			"the reader's library knows layout %u, this informerd writes layout %u: install both "
			"from one release",
			hello->layout_major, (unsigned)LAYOUT_MAJOR);
		refuse(c, REFUSED_LAYOUT, text);
		return;
	}
	r = broker_source(b, &source, &arena_fd);
	if (r < 0) {
		refuse(c, REFUSED_BUSY, r == -EAGAIN ? "nothing to read yet: informerd is starting" :
		       "informerd cannot open its arena again");
		return;
	}
	if (b->stats.readers >= b->options.max_readers ||
	    (!c->privileged && broker_readers_of(b, c->peer.uid) >= b->options.max_per_uid)) {
		snprintf(text, sizeof(text),
			 "too many readers: %u are attached, %u of this user; raise maxReaders",
			 b->stats.readers, broker_readers_of(b, c->peer.uid));
		refuse(c, REFUSED_FULL, text);
		return;
	}
	r = waker_new(&c->waker);
	if (r == 0)
		r = pins_add(source.pins, source.epoch, &c->slot, &slot_fd);
	if (r < 0) {
		snprintf(text, sizeof(text), "no slot: %s", r == -EUSERS ? "all are taken" : strerror(-r));
		refuse(c, REFUSED_FULL, text);
		return;
	}
	/* Registered before it learns of it. */
	name_take(c->name, hello->reader_name, sizeof(c->name));
	c->want_keys = hello->flags & HELLO_WANT_KEYS;
	c->pins = source.pins;
	c->generation = source.arena->header->generation;
	c->state = CLIENT_ATTACHED;
	wake_join(c);
	c->deadline_ms = 0;
	b->pending--;
	b->stats.readers++;
	b->stats.attached++;
	if (send_arena(c, MESSAGE_WELCOME, source.arena, arena_fd, slot_fd) < 0)
		client_drop(c);
}

static void
report(struct client *c)
{
	struct broker *b = c->broker;

	c->report = b->options.report ? b->options.report(b->options.context) : NULL;
	if (!c->report) {
		refuse(c, REFUSED_BUSY, "no report can be made at the moment");
		return;
	}
	c->report_length = strlen(c->report);
	c->report_sent = 0;
	c->state = CLIENT_REPORTING;
	listen_for(c, UV_WRITABLE);
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
	if (c->state == CLIENT_REPORTING) {
		client_drop_for(c, "it speaks when it has nothing to say");
		return;
	}
	if (c->state == CLIENT_ATTACHED) {
		client_speaks(c, &packet.head, (size_t)n);
		return;
	}
	if ((size_t)n < sizeof(packet.head) || (size_t)n > sizeof(packet) ||
	    packet.head.magic != PROTOCOL_MAGIC || packet.head.length != (size_t)n) {
		refuse(c, REFUSED_PROTOCOL, "that is not informer's protocol");
		return;
	}
	if (packet.head.version != PROTOCOL_VERSION) {
		refuse(c, REFUSED_LAYOUT,
		       "another protocol version: install library and informerd from one release");
		return;
	}
	if (!c->admitted) {
		char text[200];

		snprintf(text, sizeof(text),
			 "user %lu may not attach: allow it with --allow-uid %lu, or one of its groups with "
			 "--allow-gid",
			 (unsigned long)c->peer.uid, (unsigned long)c->peer.uid);
		refuse(c, REFUSED_PERMISSION, text);
		return;
	}
	if (packet.head.type == MESSAGE_HELLO && (size_t)n >= sizeof(packet.hello))
		attach(c, &packet.hello);
	else if (packet.head.type == MESSAGE_STAT)
		report(c);
	else
		refuse(c, REFUSED_PROTOCOL, "no such message");
}

static void
on_packet(uv_poll_t *poll, int status, int events)
{
	struct client *c = poll->data;

	if (status < 0) {
		client_drop(c);
		return;
	}
	if (events & UV_WRITABLE) {
		if (c->state == CLIENT_REPORTING)
			send_report(c);
		else if (c->moved)
			client_move(c);
		return;	/* it may be gone; what there is to read is told again */
	}
	if (events & UV_READABLE)
		take_packet(c);
	else if (events & UV_DISCONNECT)
		client_drop(c);
}
