/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the broker's files share. Each calls those below it only:
 *
 *   broker.c            its life: it listens, and looks at its clients from time to time
 *   broker_client.c     talks to one client
 *   broker_subscribe.c  gives it queues          broker_wake.c       signals eventfds
 *   broker_revoke.c     ends it, and keeps it out
 *   broker_drop.c       ends it
 *   broker_leftovers.c  what readers keep open after their end
 *   broker_sleepers.c   who may be asleep
 *   broker_admit.c      who may come             broker_room.c       for how many is room
 *   broker_send.c       packets
 *   broker_turn.c       what the loop tells it of
 *   broker_report.c     tells of the readers; needs none of these
 */
#ifndef WRITER_SERVE_BROKER_INTERNAL_H
#define WRITER_SERVE_BROKER_INTERNAL_H

#include <stdatomic.h>
#include <sys/socket.h>

#include "shm-layout/protocol.h"
#include "writer/serve/broker.h"
#include "writer/serve/wake_guard.h"

#define BROKER_PENDING_MAX 64u		/* connections that are not attached */
#define BROKER_REPORTS_MAX 4u           /* of these: whose report waits to be taken */
#define BROKER_BARRED_MAX 32u           /* processes and users that are not let in, … */
#define BROKER_BARRED_MS 5000u		/* … so long */
#define BROKER_DEADLINE_MS 5000u	/* for a greeting to come, for a packet to be taken */

/* ---- broker_sleepers.c ---- */

/*
 * sleepers    the attached clients; armed, queue_due: the armed word of each one's slot, and whether this
 *             commit gave one of its queues something. By themselves and in a row, as each commit looks at
 *             all of them: going from client to client and over the slots took a third of a commit with 64 of
 *             them
 */
struct wake {
	struct client **sleepers; /* room for max_readers in each */
	_Atomic uint32_t **armed;
	bool *queue_due;
	size_t sleeper_count;
	struct wake_guard guard;
	uint64_t bound_ns;	/* of CPU time: WAKE_BOUND_NS; more where a test runs on a slow machine */
};

/* A usual wake-up takes 4 µs. An interrupt, or a hypervisor, may add milliseconds to one, but not thrice. */
#define WAKE_BOUND_NS 100000u

/* 0 or negative errno. wake_done() is fine after failure. */
int wake_init(struct broker *b);
void wake_done(struct broker *b);
/* A client has a slot; none any more. */
void wake_join(struct client *c);
void wake_leave(struct client *c);

/* ---- broker_client.c, broker_drop.c, broker_send.c ---- */

/*
 * DROPPED: we have hung up on it, and it may still read: it keeps its slot, and its place among the readers.
 */
enum client_state { CLIENT_GREETING, CLIENT_ATTACHED, CLIENT_REPORTING, CLIENT_DROPPED };

/* Who hears of a descriptor's events (EPOLLIN, …): broker_turn.c. */
struct heard {
	void (*on_event)(void *owner, uint32_t events);
	void *owner;
};

struct client {
	struct broker *broker;
	struct client *next, *previous;
	enum client_state state;
	struct ucred peer;
	bool privileged; /* root, or the daemon's own user: only what all have together limits it */
	int fd, pidfd;
	struct heard connection, death;
	uint64_t deadline_ms;	/* uv_now(); 0: none */
	uint64_t behind_said_ms; /* uv_now(), when the log was told last that it is behind */
	char name[65];

	unsigned slot;
	int slot_fd;             /* borrowed from the pins */
	int event_fd;            /* -1: none */
	size_t sleeper;		/* its place among the wake's */
	bool wake_measured;     /* the next wake-up is, in CPU time */
	unsigned slow_wakes;    /* the last ones, that were measured … */
	uint64_t slow_ns;       /* … and what they took together */
	bool wakes_refused;     /* broker_refuse_wakes(); it is not woken any more */
	bool revoked;		/* broker_revoke() */
	struct reader_queue *queues; /* SLOT_QUEUES of them, or NULL */
	uint64_t queue_bytes;        /* what they cost (broker_room.c) */
	uint64_t queue_count;

	char *report;
	size_t report_length, report_sent;
};

static inline bool
client_has_slot(const struct client *c)
{
	return c->state == CLIENT_ATTACHED || c->state == CLIENT_DROPPED;
}

/* Take over a connection; one that may not attach is refused at once. */
void client_new(struct broker *b, int fd);
/* Refuse a connection that is no client, in words, and end it. */
void client_turn_away(struct broker *b, int fd, const struct ucred *peer, enum refusal code,
		      const char *text);
/* A negative errno in words, with what mends it. */
const char *broker_why_not(int error);
/*
 * End one that reads no more: it hung up, is dead, or was given nothing yet. Its slot is given up, and it is
 * freed.
 */
void client_drop(struct client *c);
/* Hang up on one that may be reading: its slot is given up when it is not (broker_drop.c). */
void client_hang_up(struct client *c);
/* End those whose deadline is over, and those that let go. Returns whether there are any to look at again. */
bool broker_drop_due(struct broker *b);
/* Whether a line about a client that was not let in is worth the log. */
bool broker_may_tell(struct broker *b);

/* REFUSED with a sentence, as far as the peer takes packets. */
void send_refusal(int fd, enum refusal code, const char *text);
/* A head for a packet of that length. */
void message_head_init(struct message_head *head, enum message_type type, size_t length);
/*
 * A name that a reader gave, of at most size - 1 bytes and not necessarily terminated: for the log, the
 * report and labels of metrics. What is not printable ASCII becomes '?'.
 */
void name_take(char *ret_name, const char *given, size_t size);
/* client_hang_up(), for what it did, or did not do. */
void client_hang_up_for(struct client *c, const char *why);
/* Send descriptors along. 0 or negative errno. */
int client_send_fds(struct client *c, const void *message, size_t length, const int *fds, size_t count);
/*
 * Send REFUSED, if the peer takes it, and let it say nothing more; what it has said goes unread. It gets the
 * packet though it may be sending at that moment, and meets the hang-up behind it.
 */
void connection_refuse(int fd, enum refusal code, const char *text);

/* ---- broker_turn.c ---- */

/* Hear the listener, and have a clock. 0 or negative errno; then no handle of the loop is open. */
int turn_open(struct broker *b);
/* Whether this turn has time for one more. */
bool turn_has_room(const struct broker *b);
/* Hear a descriptor's events: EPOLLIN, …; EPOLLHUP and EPOLLERR always. 0 or negative errno. */
int turn_add(struct broker *b, int fd, uint32_t events, struct heard *heard);
/* Other events of one that was added. */
void turn_change(struct broker *b, int fd, uint32_t events, struct heard *heard);
/* Hear no more of it, and close it. Negative is fine. */
void turn_close_fd(struct broker *b, int fd);
/* What a client is heard for: EPOLLIN or EPOLLOUT, and that it hangs up; 0: that alone. */
void client_listen(struct client *c, uint32_t events);
/* Look at the clients, and whether connections can be taken again: within a second; with the next turn. */
void broker_look_later(struct broker *b);
void broker_look_at_clients(struct broker *b);
/* It has BROKER_DEADLINE_MS from now on, else it is dropped. */
void client_set_deadline(struct client *c);

/* ---- broker_revoke.c ---- */

/* Hang up on those that were revoked, or refused for their wake-ups, since this was called last. */
void broker_hang_up_revoked(struct broker *b);
/*
 * The reader costs the others too much when it is woken, cost_ns until now: it is told `why` and hung up on,
 * and nobody of its user is let in for barred_ms, or 200 times cost_ns. May be called amid a commit.
 */
void broker_refuse_wakes(struct client *c, uint64_t cost_ns, const char *why);
/* Why this client's process may not attach, or not yet: a sentence; or NULL. */
const char *client_is_barred(const struct client *c);
/* It is dead: who has its pid next is another one. */
void broker_forget_process(struct broker *b, pid_t pid);

/* ---- broker_admit.c ---- */

/* May this peer attach? fd: its connection. */
bool peer_is_allowed(const struct broker *b, const struct ucred *peer, int fd);

/* Root, or the daemon's own user. */
bool peer_is_privileged(const struct ucred *peer);

/* ---- broker_room.c ---- */

/* What a client takes of each room, or a file of one that has ended. */
struct room_cost {
	uint64_t readers, files, bytes;
};

/* Whether one more of this user may attach; tells how many there are otherwise. */
bool room_for_reader(const struct broker *b, const struct client *c, char *text, size_t size);
/*
 * Who has to give way to one more that has not attached: who has waited longest, of the user that has most of
 * them. NULL: there is room.
 */
struct client *room_pending_in_way(const struct broker *b);
/* The same for one more report that waits to be taken. */
struct client *room_report_in_way(const struct broker *b);
/* It stands among the pending, at the end; no more. */
void room_enter(struct client *c);
void room_leave(struct client *c);
/* Whether a user that is not privileged may have this descriptor: some are kept for others, and for us. */
bool room_for_descriptor(int fd);
/*
 * How many entries its next queue gets: wanted, a power of two, or fewer where memory is scarce. 0: none, and
 * a sentence why.
 */
uint32_t room_for_queue(const struct client *c, uint32_t wanted, char *text, size_t size);
/* What a queue of so many entries costs; and when it has ended, and its file is open. */
uint64_t room_queue_cost(uint32_t entries);
uint64_t room_ended_queue_cost(void);
/* What all queues cost, and what they may at the moment. */
void room_queue_use(const struct broker *b, uint64_t *ret_bytes, uint64_t *ret_limit);

/* ---- broker_leftovers.c ---- */

struct leftover_file {
	struct leftover_file *next;
	struct room_cost cost;
	uid_t uid;
	bool privileged;
	int fd;
};

/* In the order in which they were looked at. */
struct leftovers {
	struct leftover_file *first, *last;
	uint64_t count;
};

void leftovers_done(struct broker *b);
/* Another open file of the same file, for a reader, or for us: a descriptor, or negative errno. */
int file_open_again(int fd, int flags);
/*
 * The client was handed this file, and it is not in use any more: it counts until everybody has closed it.
 * fd  an open file of ours, for reading only, which is taken over; negative is fine
 */
void leftovers_add(struct client *c, int fd, struct room_cost cost);
/*
 * Look at some files of a user, or (NULL) of anybody. What was closed counts no more. Returns whether some
 * was, and time ended the look, so that there may well be more.
 */
bool leftovers_look(struct broker *b, const uid_t *uid);

/* ---- queues: broker_subscribe.c, broker_drop.c ---- */

struct subscriber;
struct consumer_seat;

/* One of a reader's queues; subscriber NULL: not in use. */
struct reader_queue {
	struct subscriber *subscriber;
	struct consumer_seat *seat;	/* NULL: no consumer */
	int fd;                         /* of its file, for reading; negative: none */
	uint32_t entries;
	char consumer[CONSUMER_NAME_MAX + 1];
	char name[CONSUMER_NAME_MAX + 1]; /* for people: printable, never empty */
};

/* A packet of an attached client; the client may be gone afterwards. */
void client_speaks(struct client *c, const struct message_head *head, size_t length);
/*
 * End one subscription, if there is one; all of a client's, before its slot goes.
 * take_back  nobody who means well reads it any more: its memory is free, whoever keeps its descriptor
 */
void client_unsubscribe(struct client *c, struct reader_queue *queue, bool take_back);
void client_unsubscribe_all(struct client *c, bool take_back);

/* ---- broker.c ---- */

struct broker {
	uv_loop_t *loop;
	struct broker_options options;
	const char *path;
	dev_t device;		/* of the socket's file, to know it again */
	ino_t inode;
	bool passed_on;		/* the socket is another's */
	struct heard listener;
	struct turn {
		int epoll;
		uv_poll_t poll; /* of that */
		uv_timer_t pause;
		uint64_t until_ns; /* CLOCK_MONOTONIC */
		uint64_t paid_ns;  /* what turns cost is paid for when it is that time */
	} turn;
	uv_timer_t clock; /* runs while a client has a deadline, or reads on though we hung up on it */
	uv_timer_cb on_clock;
	int fd;
	int reserve; /* given up to accept and refuse when descriptors run out; -1: open again */
	struct client *clients;
	struct client *pending[BROKER_PENDING_MAX]; /* without a slot, in the order in which they came */
	unsigned pending_count;
	struct wake wake;
	struct leftovers leftovers;
	struct broker_stats stats;
	struct barred {
		pid_t pid; /* -1: any */
		uid_t uid;
		uint64_t until_ms; /* uv_now() */
		const char *why;   /* a sentence */
	} barred[BROKER_BARRED_MAX];
	uint64_t lines_since_ms, untold; /* of what is said about refused connections */
	unsigned lines;
	int arena_fd; /* the arena, re-opened read-only */
	/* closing */
	bool closing;
	unsigned open_handles;
};

static inline struct pins *
client_pins(const struct client *c)
{
	return c->broker->options.source.pins;
}

/* The newest that was published. */
static inline uint64_t
broker_epoch(const struct broker *b)
{
	return atomic_load_explicit(&b->options.source.arena->header->epoch, memory_order_relaxed);
}

#endif
