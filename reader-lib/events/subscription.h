/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subscriptions: what the connection does for each handler. A subscription asks the daemon for a queue, and
 * asks again after each arena that comes; the ring that answers is left in `arrived`, where the handler's
 * feed fetches it.
 *
 *	WANTED ──the resource is in a snapshot: SUBSCRIBE──▶ ASKED ──SUBSCRIBED──▶ OPEN
 *	  ▲                                                    │                     │
 *	  └─────────────── hang-up, refused (a second later), renewed ───────────────┘
 *
 * Numbers name queues, and one that was given up may still be answered. So answers are counted: only the one
 * that follows the last SUBSCRIBE of a number is taken, and a number is given anew only when nothing is
 * outstanding.
 *
 * Threads: all with `lock` held, but subscription_take() and subscription_has_arrived().
 */
#ifndef READER_LIB_EVENTS_SUBSCRIPTION_H
#define READER_LIB_EVENTS_SUBSCRIPTION_H

#include "reader-lib/events/ring.h"

enum subscription_state { SUBSCRIPTION_WANTED, SUBSCRIPTION_ASKED, SUBSCRIPTION_OPEN };

/*
 * resource   of the handle; its name as people write it
 * retry_ns   WANTED: not before (CLOCK_MONOTONIC)
 */
struct subscription {
	struct subscription *next;
	struct informer_resource *resource;
	unsigned number;
	uint32_t entries;
	enum subscription_state state;
	uint64_t retry_ns;
	_Atomic(struct ring *) arrived;
	char ns[256];
	char consumer[CONSUMER_NAME_MAX + 1];
	char name[CONSUMER_NAME_MAX + 1];
};

/*
 * What this room has of the handle for them; zeroed is none. With `lock`.
 *
 * unanswered  SUBSCRIBEs of each number that no answer came to yet
 * waits       one of them, for its resource to appear: to be woken at commits
 */
struct subscriptions {
	struct subscription *first;
	uint8_t unanswered[SLOT_QUEUES];
	_Atomic bool waits;
};

/* Give it a number, and list it. 0, or -EUSERS: all SLOT_QUEUES are taken. */
int subscription_add(struct informer *inf, struct subscription *sub);
/* It is no longer read. What arrived is freed. */
void subscription_remove(struct informer *inf, struct subscription *sub);
/* Ask anew, after a while: the ring was of no use. */
void subscription_renew(struct informer *inf, struct subscription *sub, uint64_t delay_ns);

/* Send what can be sent, and note whether one waits for its resource to appear. */
void subscriptions_step(struct informer *inf);
/* The connection is up, and a new arena current: none has a queue of it, and all may ask at once. */
void subscriptions_begin_anew(struct informer *inf);
/* The connection was lost. Rings are read on as far as that is safe (ring_usable()). */
void subscriptions_lost(struct informer *inf);
/*
 * SUBSCRIBED or UNSUBSCRIBED came, with count descriptors. Takes them over. False: the packet makes no sense
 * (or is none of these), and the descriptors are still the caller's.
 */
bool subscriptions_receive(struct informer *inf, const void *packet, size_t length, const int *fds,
			   unsigned count);

static inline bool
subscription_has_arrived(const struct subscription *sub)
{
	/* A hint; subscription_take() fetches it. */
	return atomic_load_explicit(&((struct subscription *)(uintptr_t)sub)->arrived,
				    memory_order_acquire) != NULL;
}

/* The ring that arrived, or NULL. It is the caller's. */
static inline struct ring *
subscription_take(struct subscription *sub)
{
	/*
	 * Meets the exchange in receive_ring() (subscription.c): without it the ring's fields could be seen
	 * unset.
	 */
	return atomic_exchange_explicit(&sub->arrived, NULL, memory_order_acq_rel);
}

#endif
