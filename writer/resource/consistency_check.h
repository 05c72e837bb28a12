/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A consistency check compares a resource's cached objects once with those of the API server.
 *
 * A watch alone does not show an event that a proxy swallowed, a wrong cache of the server, or a bug of
 * ours. So the check asks for a LIST at exactly the cache's resourceVersion, of metadata alone, in JSON,
 * page by page. The server reads it from its storage (resourceVersionMatch=Exact). The check compares key,
 * UID and resourceVersion of each object with a copy taken at the start, so the cache may change meanwhile.
 * It changes nothing and uses no memory of the arena.
 *
 * The check is inconclusive, without differences, if the server no longer has that version (410), answers
 * for another one, or fails. So it is if a page is no list or longer than 4 MiB.
 *
 * Memory    at most 64 private bytes an object, and a page with its cJSON tree
 * Time      the copy: some 0.5 µs an object, at once; then one turn of the loop for each page of 500 objects
 * Source    client-go util/consistencydetector; the API server's own checker of its watch cache
 * Threads   the writer's loop thread only
 */
#ifndef WRITER_RESOURCE_CONSISTENCY_CHECK_H
#define WRITER_RESOURCE_CONSISTENCY_CHECK_H

#include "writer/reflect/lister_watcher.h"
#include "writer/store/store.h"

#define CONSISTENCY_NAMES 10u

struct consistency_result {
	const char *inconclusive;               /* why there is no result; NULL: there is one */
	char version[RESOURCE_VERSION_MAX + 1]; /* the RV of the comparison */
	uint64_t objects;                       /* of the server */
	uint64_t missing, extra, different;     /* only there; only here; another UID or resourceVersion */
	size_t name_count;
	char names[CONSISTENCY_NAMES][512]; /* sentences about the first differences, cut to size */
};

/*
 * Begin a check of a resource whose content is complete and stands at the store's RV: all received events
 * are applied.
 *
 * resource  its position in the store, which may change while the check runs; borrowed, as is the rest
 * on_done   called once, from the loop; may call consistency_check_free(). The result is lent.
 * Returns   0; -EINVAL, -ENOMEM (then on_done is not called)
 */
struct consistency_check;
typedef void consistency_done_fn(void *context, const struct consistency_result *result);
int consistency_check_start(const struct lister_watcher *lister_watcher, const struct store *store,
			    const unsigned *resource, consistency_done_fn *on_done, void *context,
			    struct consistency_check **ret);
/* May be called while the check runs. NULL is fine. */
void consistency_check_free(struct consistency_check *check);

#endif
