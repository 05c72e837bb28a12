/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subscription asks the daemon for a handler's queue, and asks again after each new arena. The ring that
 * answers is left in `arrived`, where the handler's feed fetches it.
 *
 *	WANTED ──the resource is in a snapshot: SUBSCRIBE──▶ ASKED ──SUBSCRIBED──▶ OPEN
 *	  ▲                                                    │                     │
 *	  └─────────────── hang-up, refused (a second later), renewed ───────────────┘
 *
 * Numbers name queues, and a subscription that was given up may still be answered. So answers are counted:
 * only the answer to the last SUBSCRIBE of a number is taken. A number is reused only when no answer is
 * outstanding.
 *
 * Threads: `lock` is held in all functions but subscription_take() and subscription_has_arrived().
 */
#ifndef READER_LIB_EVENTS_SUBSCRIPTION_H
#define READER_LIB_EVENTS_SUBSCRIPTION_H

#include "reader-lib/events/ring.h"

enum subscription_state { SUBSCRIPTION_WANTED, SUBSCRIPTION_ASKED, SUBSCRIPTION_OPEN };

/*
 * resource  of the handle; its name is as people write it
 * retry_ns  WANTED: do not ask before (CLOCK_MONOTONIC)
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
 * The handle's part for subscriptions; zeroed is none. Guarded by `lock`.
 *
 * unanswered  SUBSCRIBEs of each number that have no answer yet
 * waits       a subscription waits for its resource to appear: wake us at commits
 */
struct subscriptions {
	struct subscription *first;
	uint8_t unanswered[SLOT_QUEUES];
	_Atomic bool waits;
};

/* Number and list a subscription. Returns 0, or -EUSERS: all SLOT_QUEUES numbers are taken. */
int subscription_add(struct informer *inf, struct subscription *sub);
/* End a subscription that is no longer read. A ring that arrived is freed. */
void subscription_remove(struct informer *inf, struct subscription *sub);
/* Ask again after delay_ns: the ring could not be used. */
void subscription_renew(struct informer *inf, struct subscription *sub, uint64_t delay_ns);

/* Send what can be sent, and note whether a subscription waits for its resource to appear. */
void subscriptions_step(struct informer *inf);
/* The connection is up with a new arena: no subscription has a queue of it, and all may ask at once. */
void subscriptions_begin_anew(struct informer *inf);
/* The connection was lost. Rings are read on as far as that is safe (ring_usable()). */
void subscriptions_lost(struct informer *inf);
/*
 * Handle SUBSCRIBED or UNSUBSCRIBED with `count` descriptors, which are taken over. False: the packet is
 * neither, or makes no sense, and the caller keeps the descriptors.
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

/* Take the ring that arrived, or NULL. The caller owns it. */
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
