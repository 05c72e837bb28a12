/*
 * What factory, shared informers and their handlers share.
 *
 * Lifetime  informers and listers live until their factory is shut down; the factory's list only grows
 */
#ifndef READER_LIB_FACTORY_H
#define READER_LIB_FACTORY_H

#include "reader-lib/lister.h"

/* A struct informer_tweak, copied; resource in kubectl's form. */
struct tweak {
	char *resource;
	uint32_t resync_ms;
	char *labels;
	char *fields;
};

/* lock guards the list, and of each informer what is said there. */
struct informer_factory {
	struct informer *inf;
	char *namespace_;
	uint32_t resync_ms;
	struct tweak *tweaks;
	size_t tweak_count;
	struct path_set *transform;
	pthread_mutex_t lock;
	struct informer_shared *shared;
	bool stopped;
};

/*
 * asked      as the caller named it; name: in kubectl's form
 * exclusive  never given to one who asks for the resource
 * started, stopped, handlers   guarded by the factory's lock
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
	bool started, stopped;
	struct informer_lister lister;
};

/* A copy of a text ("" for NULL); NULL without memory. */
char *text_copy(const struct informer *inf, const char *text);

#endif
