/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lister: the objects that a shared informer shows of any snapshot, and the private indexes added to it.
 */
#ifndef READER_LIB_FACTORY_LISTER_H
#define READER_LIB_FACTORY_LISTER_H

#include "reader-lib/factory/private_index.h"
#include "reader-lib/factory/scope.h"

/*
 * lock     guards the list of indexes, which only grows
 */
struct informer_lister {
	struct scope scope;
	pthread_mutex_t lock;
	struct private_index *indexes;
};

/* What scope points to is borrowed. */
void lister_init(struct informer_lister *lister, const struct scope *scope);
void lister_done(struct informer_lister *lister);

#endif
