/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs and functions that factory, shared informers and handlers share.
 *
 * Lifetime: informers and listers live until their factory is shut down. The factory's list only grows.
 */
#ifndef READER_LIB_FACTORY_FACTORY_H
#define READER_LIB_FACTORY_FACTORY_H

#include "reader-lib/events/run.h"
#include "reader-lib/factory/lister.h"

/* A copied struct informer_tweak. resource is in kubectl's form; a selector of "" is NULL. */
struct tweak {
	char *resource;
	uint32_t resync_ms;
	char *labels;
	char *fields;
	struct informer_label_selector *label_selector;
	struct informer_field_selector *field_selector;
};

/* lock guards the list. */
struct informer_factory {
	struct informer *inf;
	char *namespace_;
	uint32_t resync_ms;
	struct tweak *tweaks;
	size_t tweak_count;
	struct path_set *transform;
	pthread_mutex_t lock;
	struct informer_shared *shared;
};

/*
 * asked      the name that the caller gave; `name` is in kubectl's form
 * exclusive  never given to another caller that asks for the resource
 */
struct informer_shared {
	struct informer_shared *next;
	struct informer_factory *factory;
	char *asked;
	char *name;
	struct informer_resource *resource;
	const struct tweak *tweak;
	uint32_t resync_ms;
	bool exclusive;
	struct informer_lister lister;
	struct handler_group group;
};

/* ---- shared.c ---- */

/* Let the handlers run that were added before. */
void shared_start(struct informer_shared *shared);
bool shared_is_started(const struct informer_shared *shared);
/* Refuse new handlers, remove the present ones, and wait for them. */
void shared_stop(struct informer_shared *shared);

/* ---- factory.c ---- */

/*
 * Wait until the resource's first list is complete and every handler was told of it. end_ns: as from
 * wait_deadline(). Returns 0; -ETIMEDOUT (at once when the informer is not started); or a code.
 */
int shared_wait_synced(struct informer_shared *shared, uint64_t end_ns);

#endif
