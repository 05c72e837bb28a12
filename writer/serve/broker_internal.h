/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the broker's files share, each of which calls those below it:
 *
 *   broker.c            listens; its life
 *   broker_client.c     talks to one client      broker_wake.c     signals eventfds
 *   broker_subscribe.c  gives it queues          broker_report.c   tells of the readers
 *   broker_drop.c       ends it
 *   broker_admit.c      who may come             broker_sleepers.c the eventfds, and whose they are
 *   broker_send.c       packets                  broker_served.c   what is served, and to how many
 *   broker_end.c        the broker's memory goes with its last handle
 */
#ifndef WRITER_SERVE_BROKER_INTERNAL_H
#define WRITER_SERVE_BROKER_INTERNAL_H

#include <stdatomic.h>
#include <sys/socket.h>

#include "shm-layout/protocol.h"
#include "writer/serve/broker.h"

#define BROKER_PENDING_MAX 64u		/* connections that are not attached */
#define BROKER_PENDING_UID_MAX 16u	/* of these, of one user */
#define BROKER_DEADLINE_MS 5000u	/* for a greeting to come, for a packet to be taken */

/* ---- broker_sleepers.c, broker_wake.c ---- */

/* An eventfd, shared by its client and the task that writes to it. */
struct waker {
	int fd;
	unsigned references;
	bool stuck;		/* a write to it had to be set free: its reader is hostile */
};

/*
 * sleepers    the attached clients; armed, queue_due: the armed word of each one's slot, and whether this
 *             commit gave one of its queues something. By themselves and in a row, as each commit looks at
 *             all of them: going from client to client and over the slots took a third of a commit with 64 of
 *             them
 */
struct wake {
	struct broker *broker;
	struct client **sleepers; /* room for max_readers in each */
	_Atomic uint32_t **armed;
	bool *queue_due;
	size_t sleeper_count;
	struct eventfd_signal *signal; /* NULL: eventfds are written by the task */
	int *fds;		/* room for max_readers */
	uv_work_t work;
	uv_timer_t watchdog;
	bool active;
	bool again;		/* clients became due while the task ran */
	struct waker **wakers; /* those of the task; room for max_readers */
	size_t count;
	_Atomic size_t at;	/* 1 + the one that is written to; 0: the task has not begun */
	size_t last_at;		/* what the watchdog saw last */
	uint64_t wakeups;
};

int waker_new(struct waker **ret_waker);
void waker_unref(struct waker *waker);
/* 0, -ENOMEM. wake_done() is fine after failure. */
int wake_init(struct broker *b);
void wake_done(struct broker *b);
/* A client has a slot; another one; none any more. */
void wake_join(struct client *c);
void wake_moved(struct client *c);
void wake_leave(struct client *c);
/* The watchdog's handle goes, the last one when the broker closes: no task runs any more (broker_wake.c). */
void wake_close(struct broker *b);

/* ---- broker_client.c, broker_drop.c, broker_send.c ---- */

/*
 * DROPPED: we have hung up on it, and it may still read: it keeps its slot, and its place among the readers.
 */
enum client_state { CLIENT_GREETING, CLIENT_ATTACHED, CLIENT_REPORTING, CLIENT_DROPPED };

struct client {
	struct broker *broker;
	struct client *next, *previous;
	enum client_state state;
	struct ucred peer;
	bool admitted;
	bool privileged;	/* root, or the daemon's own user: not counted against max_per_uid */
	int fd, pidfd;
	uv_poll_t poll, death;
	bool has_death;
	unsigned open_handles;
	uint64_t deadline_ms;	/* uv_now(); 0: none */
	uint64_t behind_said_ms; /* uv_now(), when the log was told last that it is behind */
	char name[65];
	bool want_keys;

	struct pins *pins;
	unsigned slot;
	struct waker *waker;
	size_t sleeper;		/* its place among the wake's */
	bool due;		/* to be woken */
	struct reader_queue *queues; /* SLOT_QUEUES of them, or NULL */
	bool moved;		/* MOVED could not be sent yet */
	uint64_t generation;

	char *report;
	size_t report_length, report_sent;
};

static inline bool
client_has_slot(const struct client *c)
{
	return c->state == CLIENT_ATTACHED || c->state == CLIENT_DROPPED;
}

/* Take over a connection. */
void client_new(struct broker *b, int fd);
/*
 * End one that reads no more: it hung up, is dead, or was given nothing yet. Its slot is given up at once,
 * its memory goes when the loop has closed its handles.
 */
void client_drop(struct client *c);
/* Hang up on one that may be reading: its slot is given up when it is not (broker_drop.c). */
void client_hang_up(struct client *c);
/* Give an attached client the current arena, with a new slot. */
void client_move(struct client *c);
/* It has BROKER_DEADLINE_MS from now on, else it is dropped. */
void client_set_deadline(struct client *c);
/* Whether a line about a client that was not let in is worth the log. */
bool broker_may_tell(struct broker *b);

/* A head for a packet of that length. */
void message_head_init(struct message_head *head, enum message_type type, size_t length);
/*
 * A name that a reader gave, of at most size - 1 bytes and not necessarily terminated: for the log, the
 * report and labels of metrics. What is not printable ASCII becomes '?'.
 */
void name_take(char *ret_name, const char *given, size_t size);
/* client_drop() and client_hang_up(), for what it did, or did not do. */
void client_drop_for(struct client *c, const char *why);
void client_hang_up_for(struct client *c, const char *why);
/* Send descriptors along. 0 or negative errno. */
int client_send_fds(struct client *c, const void *message, size_t length, const int *fds, size_t count);

/* ---- broker_admit.c ---- */

/* May this peer attach? fd: its connection. */
bool peer_is_allowed(const struct broker *b, const struct ucred *peer, int fd);

/* ---- queues: broker_subscribe.c, broker_drop.c ---- */

struct subscriber;
struct consumer_seat;

/* One of a reader's queues; subscriber NULL: not in use. */
struct reader_queue {
	struct subscriber *subscriber;
	struct consumer_seat *seat;	/* NULL: no consumer */
	uint32_t entries;
	char consumer[CONSUMER_NAME_MAX + 1];
	char name[CONSUMER_NAME_MAX + 1]; /* for people: printable, never empty */
};

/* A packet of an attached client; the client may be gone afterwards. */
void client_speaks(struct client *c, const struct message_head *head, size_t length);
/* End one subscription, if there is one; all of a client's, before its slot goes. */
void client_unsubscribe(struct reader_queue *queue);
void client_unsubscribe_all(struct client *c);

/* ---- broker.c, broker_served.c, broker_end.c ---- */

struct broker {
	uv_loop_t *loop;
	struct broker_options options;
	uid_t *allow_uids;
	gid_t *allow_gids;
	char *path;
	dev_t device;		/* of the socket's file, to know it again */
	ino_t inode;
	uv_poll_t listener;
	uv_timer_t clock;	/* runs while a client has a deadline */
	int fd;
	int reserve;		/* given up to accept and refuse when descriptors run out */
	struct client *clients;
	unsigned pending;
	struct wake wake;
	struct broker_stats stats;
	uint64_t lines_since_ms, untold; /* of what is said about refused connections */
	unsigned lines;
	/* the arena, re-opened read-only */
	int arena_fd;
	uint64_t arena_generation;
	const struct arena *arena;
	/* closing */
	bool closing;
	unsigned open_handles;
	void (*done)(void *context);
	void *done_context;
};

/* A handle of the broker, or the last of a client, was closed: free the broker when it was the last. */
void broker_handle_closed(struct broker *b);
/* The same, for uv_close(); the handle's data is the broker. */
void broker_on_closed(uv_handle_t *handle);
/* Free it at once: it has no handles. */
void broker_destroy(struct broker *b);
/* The source, with the arena's read-only descriptor. -EAGAIN: nothing is served yet. */
int broker_source(struct broker *b, struct broker_source *ret_source, int *ret_fd);
/* Readers of this user: attached, or dropped and not gone. */
unsigned broker_readers_of(const struct broker *b, uid_t uid);
unsigned broker_pending_of(const struct broker *b, uid_t uid);

#endif
