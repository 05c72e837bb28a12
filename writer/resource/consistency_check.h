/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consistency check: one comparison of what is cached of a resource with what the API server has.
 *
 * A watch alone does not show an event that a proxy swallowed, a wrong cache of the server, or a fault of
 * ours. So the check asks for a LIST at exactly the resourceVersion at which the cache stands
 * (resourceVersionMatch=Exact, which the server reads from its storage), of metadata alone, in JSON, page by
 * page. It compares key, UID and resourceVersion of each object with a note that is taken at the start: the
 * cache may go on meanwhile. It changes nothing and takes no memory of the arena. It is inconclusive, and
 * says nothing of differences, when the server no longer has that version (410), answers for another one,
 * fails, or sends a page that is no list or longer than 4 MiB.
 *
 * Memory    at most 64 private bytes an object, and a page with its cJSON tree
 * Time      the note: some 0.5 µs an object, at once; then a turn of the loop for each page of 500 objects
 * Source    client-go util/consistencydetector; the API server's own checker of its watch cache
 * Threads   the writer's loop thread only
 */
#ifndef WRITER_RESOURCE_CONSISTENCY_CHECK_H
#define WRITER_RESOURCE_CONSISTENCY_CHECK_H

#include "writer/reflect/lister_watcher.h"
#include "writer/store/store.h"

#define CONSISTENCY_NAMES 10u

struct consistency_result {
	const char *inconclusive;               /* why it says nothing; NULL: it does */
	char version[RESOURCE_VERSION_MAX + 1]; /* at which it was made */
	uint64_t objects;                       /* at the server */
	uint64_t missing, extra, different;     /* only there; only here; of another UID or resourceVersion */
	size_t name_count;
	char names[CONSISTENCY_NAMES][512]; /* sentences about the first of them, cut where too long */
};

/*
 * Begin one, of a resource whose content is whole and stands at the RV that the store says: everything that
 * was heard is applied.
 *
 * resource  its position in the store, which may change while the check runs; borrowed, as the rest is
 * on_done   called once, from the loop; may call consistency_check_free(). The result is lent.
 * Returns   0; -EINVAL, -ENOMEM (then on_done is not called)
 */
struct consistency_check;
typedef void consistency_done_fn(void *context, const struct consistency_result *result);
int consistency_check_start(const struct lister_watcher *lister_watcher, const struct store *store,
			    const unsigned *resource, consistency_done_fn *on_done, void *context,
			    struct consistency_check **ret);
/* Also while it runs. NULL is fine. */
void consistency_check_free(struct consistency_check *check);

#endif
