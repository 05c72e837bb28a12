/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the broker's files share. Each file calls only those below it:
 *
 *   broker.c            the socket and the broker's life; looks at its clients once a second while it must
 *   broker_client.c     talks to one client
 *   broker_subscribe.c  gives a client queues       broker_wake.c       signals eventfds
 *   broker_revoke.c     ends a costly client, and bars it
 *   broker_drop.c       ends a client
 *   broker_leftovers.c  files that stay open after their reader ended
 *   broker_sleepers.c   the arrays that a commit looks through
 *   broker_admit.c      which peer may attach       broker_room.c       what each user may have
 *   broker_send.c       packets
 *   broker_turn.c       events from the loop
 *   broker_report.c     the report of the readers; uses none of these
 */
#ifndef WRITER_SERVE_BROKER_INTERNAL_H
#define WRITER_SERVE_BROKER_INTERNAL_H

#include <stdatomic.h>
#include <sys/socket.h>

#include "shm-layout/protocol.h"
#include "writer/serve/broker.h"
#include "writer/serve/wake_guard.h"

#define BROKER_PENDING_MAX 64u   /* connections that have not attached */
#define BROKER_REPORTS_MAX 4u    /* of these: with a report that is not sent whole */
#define BROKER_BARRED_MAX 32u    /* entries of barred processes and users, … */
#define BROKER_BARRED_MS 5000u   /* … and the default of barred_ms */
#define BROKER_DEADLINE_MS 5000u /* for a greeting, or for a packet to be taken */

/* ---- broker_sleepers.c ---- */

/*
 * sleepers   the attached clients
 * armed      the armed word of each one's slot
 * queue_due  whether this commit gave one of its queues entries
 *
 * Each commit looks through all three arrays. Following clients and slots instead took a third of a commit
 * with 64 readers.
 */
struct wake {
	struct client **sleepers; /* room for max_readers in each */
	_Atomic uint32_t **armed;
	bool *queue_due;
	size_t sleeper_count;
	struct wake_guard guard;
	uint64_t bound_ns; /* of CPU time: WAKE_BOUND_NS; tests on slow machines raise it */
};

/*
 * A usual wake-up takes 4 µs. An interrupt or a hypervisor may add milliseconds to one, but not to three in a
 * row.
 */
#define WAKE_BOUND_NS 100000u

/* Returns 0 or negative errno. wake_done() is fine after failure. */
int wake_init(struct broker *b);
void wake_done(struct broker *b);
/* A client got a slot; the client gives up its slot. */
void wake_join(struct client *c);
void wake_leave(struct client *c);

/* ---- broker_client.c, broker_drop.c, broker_send.c ---- */

/* DROPPED: we have hung up, and the client may still read. It keeps its slot and counts as a reader. */
enum client_state { CLIENT_GREETING, CLIENT_ATTACHED, CLIENT_REPORTING, CLIENT_DROPPED };

/* The handler of a descriptor's events (EPOLLIN, …): broker_turn.c. */
struct heard {
	void (*on_event)(void *owner, uint32_t events);
	void *owner;
};

struct client {
	struct broker *broker;
	struct client *next, *previous;
	enum client_state state;
	struct ucred peer;
	bool privileged; /* root, or the daemon's own user: no limit per user applies */
	int fd, pidfd;
	struct heard connection, death;
	uint64_t deadline_ms;	/* uv_now(); 0: none */
	uint64_t behind_said_ms; /* uv_now() of the last log line that says it is behind */
	char name[65];

	unsigned slot;
	int slot_fd;             /* borrowed from the pins */
	int event_fd;            /* -1: none */
	size_t sleeper;          /* its index in the arrays of struct wake */
	bool wake_measured;      /* measure the CPU time of the next wake-up */
	unsigned slow_wakes;     /* slow wake-ups in a row … */
	uint64_t slow_ns;        /* … and their CPU time together */
	bool wakes_refused;      /* broker_refuse_wakes() was called: it is not woken any more */
	bool revoked;            /* broker_revoke() was called */
	struct reader_queue *queues; /* SLOT_QUEUES of them, or NULL */
	uint64_t queue_bytes;        /* their cost (broker_room.c) */
	uint64_t queue_count;

	char *report;
	size_t report_length, report_sent;
};

static inline bool
client_has_slot(const struct client *c)
{
	return c->state == CLIENT_ATTACHED || c->state == CLIENT_DROPPED;
}

/* Take over a connection. A peer that may not attach is refused at once. */
void client_new(struct broker *b, int fd);
/* Refuse a connection that has no client yet, with a sentence, and close it. */
void client_turn_away(struct broker *b, int fd, const struct ucred *peer, enum refusal code,
		      const char *text);
/* A sentence for a negative errno, with its remedy. */
const char *broker_why_not(int error);
/*
 * End a client that cannot read any more: it hung up, is dead, or got nothing yet. Gives up its slot and
 * frees it.
 */
void client_drop(struct client *c);
/* Hang up on a client that may be reading. Its slot is given up when it has let go (broker_drop.c). */
void client_hang_up(struct client *c);
/*
 * End clients whose deadline has passed, and dropped ones that have let go. Returns whether a later look is
 * needed.
 */
bool broker_drop_due(struct broker *b);
/* Whether a log line about a refused client may be written now. */
bool broker_may_tell(struct broker *b);

/* Send REFUSED with a sentence, if the peer takes it. */
void send_refusal(int fd, enum refusal code, const char *text);
/* Fill in the head of a packet of that length. */
void message_head_init(struct message_head *head, enum message_type type, size_t length);
/*
 * Copy a reader's name for the log, the report and metrics labels. `given` has at most size - 1 bytes, and
 * may lack a terminator. Each byte that is no printable ASCII becomes '?'.
 */
void name_take(char *ret_name, const char *given, size_t size);
/* client_hang_up() for misbehaviour or a missed deadline; logs why. */
void client_hang_up_for(struct client *c, const char *why);
/* Send a message with descriptors. Returns 0 or negative errno. */
int client_send_fds(struct client *c, const void *message, size_t length, const int *fds, size_t count);
/*
 * Send REFUSED, if the peer takes it, and shut down what it sends; unread packets stay unread. The peer gets
 * REFUSED even if it is sending at that moment, and finds the hang-up behind it.
 */
void connection_refuse(int fd, enum refusal code, const char *text);

/* ---- broker_turn.c ---- */

/*
 * Begin to hear the listener, and initialise the clock. Returns 0; or negative errno: no handle of the loop
 * is open.
 */
int turn_open(struct broker *b);
/* Whether this turn has time for one more event. */
bool turn_has_room(const struct broker *b);
/*
 * Begin to hear a descriptor's events: EPOLLIN, …; EPOLLHUP and EPOLLERR always. Returns 0 or negative errno.
 */
int turn_add(struct broker *b, int fd, uint32_t events, struct heard *heard);
/* Hear other events of a descriptor that was added. */
void turn_change(struct broker *b, int fd, uint32_t events, struct heard *heard);
/* Stop hearing a descriptor, and close it. A negative fd is fine. */
void turn_close_fd(struct broker *b, int fd);
/* Hear EPOLLIN or EPOLLOUT of a client, and always its hang-up; 0: the hang-up alone. */
void client_listen(struct client *c, uint32_t events);
/* Look at the clients, and whether connections can be accepted again: within a second; in the next turn. */
void broker_look_later(struct broker *b);
void broker_look_at_clients(struct broker *b);
/* The client is dropped in BROKER_DEADLINE_MS unless the deadline is cleared. */
void client_set_deadline(struct client *c);

/* ---- broker_revoke.c ---- */

/* Hang up on readers that were revoked, or refused for their wake-ups, since the last call. */
void broker_hang_up_revoked(struct broker *b);
/*
 * Refuse a reader whose wake-ups cost too much, cost_ns so far. The reader is told `why` and hung up on. Its
 * user is refused for barred_ms or 200 × cost_ns, whichever is longer. May be called during a commit.
 */
void broker_refuse_wakes(struct client *c, uint64_t cost_ns, const char *why);
/* Why this client is barred now, as a sentence; NULL: it is not barred. */
const char *client_is_barred(const struct client *c);
/* The process is dead: another process may get its pid, and is not barred. */
void broker_forget_process(struct broker *b, pid_t pid);

/* ---- broker_admit.c ---- */

/* Whether this peer may attach. fd: its connection. */
bool peer_is_allowed(const struct broker *b, const struct ucred *peer, int fd);

/* Root, or the daemon's own user. */
bool peer_is_privileged(const struct ucred *peer);

/* ---- broker_room.c ---- */

/* What a client, or a leftover file, uses of each limit. */
struct room_cost {
	uint64_t readers, files, bytes;
};

/* Whether one more reader of this user may attach. If not, `text` says how many are attached. */
bool room_for_reader(const struct broker *b, const struct client *c, char *text, size_t size);
/*
 * The client to close for one more connection: the oldest pending one of the user with most of them. A
 * privileged client is chosen last. NULL: there is room.
 */
struct client *room_pending_in_way(const struct broker *b);
/* The same for one more report that waits to be sent. */
struct client *room_report_in_way(const struct broker *b);
/* Append the client to the pending ones; take it out. */
void room_enter(struct client *c);
void room_leave(struct client *c);
/*
 * Whether an unprivileged user may have this descriptor: some are kept for privileged users and for
 * informerd.
 */
bool room_for_descriptor(int fd);
/*
 * How many entries the client's next queue gets: `wanted` (a power of two), or fewer when memory is scarce.
 * 0: no queue, and `text` says why.
 */
uint32_t room_for_queue(const struct client *c, uint32_t wanted, char *text, size_t size);
/* Cost in bytes of a queue of this many entries; and of an ended queue whose file is still open. */
uint64_t room_queue_cost(uint32_t entries);
uint64_t room_ended_queue_cost(void);
/* Cost in bytes of all queues, and their limit at the moment. */
void room_queue_use(const struct broker *b, uint64_t *ret_bytes, uint64_t *ret_limit);

/* ---- broker_leftovers.c ---- */

struct leftover_file {
	struct leftover_file *next;
	struct room_cost cost;
	uid_t uid;
	bool privileged;
	int fd;
};

/* In the order in which they were last looked at. */
struct leftovers {
	struct leftover_file *first, *last;
	uint64_t count;
};

void leftovers_done(struct broker *b);
/* Open the file behind a descriptor again, as another open file. Returns a descriptor or negative errno. */
int file_open_again(int fd, int flags);
/*
 * The client got this file, and it is not in use any more. The file counts until every process has closed it.
 * fd: an open file of ours, read-only, taken over; negative is fine.
 */
void leftovers_add(struct client *c, int fd, struct room_cost cost);
/*
 * Look at some files of a user, or of all users (NULL). A closed file stops counting. Returns true if a file
 * was closed and time ran out before all were looked at: another look may free more.
 */
bool leftovers_look(struct broker *b, const uid_t *uid);

/* ---- queues: broker_subscribe.c, broker_drop.c ---- */

struct subscriber;
struct consumer_seat;

/* One of a reader's queues. subscriber NULL: it is not in use. */
struct reader_queue {
	struct subscriber *subscriber;
	struct consumer_seat *seat;	/* NULL: no consumer */
	int fd;                         /* its file, read-only; negative: none */
	uint32_t entries;
	char consumer[CONSUMER_NAME_MAX + 1];
	char name[CONSUMER_NAME_MAX + 1]; /* for the log and the report: printable, never empty */
};

/* Handle a packet of an attached client. The call may free the client. */
void client_speaks(struct client *c, const struct message_head *head, size_t length);
/*
 * End one subscription if there is one; end all of a client's, before its slot is given up. take_back: no
 * well-behaved reader reads the queue any more; its memory is freed even if its descriptor is open.
 */
void client_unsubscribe(struct client *c, struct reader_queue *queue, bool take_back);
void client_unsubscribe_all(struct client *c, bool take_back);

/* ---- broker.c ---- */

struct broker {
	uv_loop_t *loop;
	struct broker_options options;
	const char *path;
	dev_t device; /* of the socket's file, to recognise it */
	ino_t inode;
	bool passed_on; /* a successor has the socket */
	struct heard listener;
	struct turn {
		int epoll;
		uv_poll_t poll; /* polls `epoll` */
		uv_timer_t pause;
		uint64_t until_ns; /* CLOCK_MONOTONIC: the turn's end */
		uint64_t paid_ns;  /* CLOCK_MONOTONIC: when all turns so far are paid for */
	} turn;
	uv_timer_t clock; /* runs while a client has a deadline, or is DROPPED */
	uv_timer_cb on_clock;
	int fd;
	int reserve; /* closed to accept and refuse when descriptors run out; -1: reopen it */
	struct client *clients;
	struct client *pending[BROKER_PENDING_MAX]; /* not attached, oldest first */
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
	uint64_t lines_since_ms, untold; /* of log lines about refused connections */
	unsigned lines;
	int arena_fd; /* the arena, re-opened read-only */
	bool closing;
	unsigned open_handles;
};

static inline struct pins *
client_pins(const struct client *c)
{
	return c->broker->options.source.pins;
}

/* The newest published epoch. */
static inline uint64_t
broker_epoch(const struct broker *b)
{
	return atomic_load_explicit(&b->options.source.arena->header->epoch, memory_order_relaxed);
}

#endif
