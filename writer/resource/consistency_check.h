/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Consistency check: one comparison of what is cached of a resource with what the API server has.
 *
 * What a watch does not tell is never noticed otherwise: a proxy that swallowed an event, a server whose own
 * cache is wrong, a fault of ours. So one asks for a LIST at exactly the resourceVersion at which the cache
 * stands (resourceVersionMatch=Exact, which the server reads from its storage), of metadata alone, in pages,
 * and compares key, UID and resourceVersion of each object: those name a state. Nothing is changed here.
 *
 *	what is cached at X ── noted at the start ──▶ ┌───────────┐
 *	LIST at X, page by page ─────────────────────▶│ the same? │──▶ missing, extra, different
 *	                                              └───────────┘
 *
 * The cache goes on while pages come in. Which objects it had at X, and as of which change, stands in a note
 * of its own; one that has changed since is compared by its presence alone. A server that no longer has X
 * (410), or answers for another resourceVersion, or not at all, leaves the check inconclusive: nothing is
 * said of differences then.
 *
 * Memory: 64 private bytes an object at most, while it runs. Time: the note is taken at once, in some 0.2 µs
 * an object; the rest comes in shares of a turn.
 *
 * Source    client-go util/consistencydetector; the API server's own checker of its watch cache
 * Threads   the writer's loop thread only
 */
#ifndef WRITER_RESOURCE_CONSISTENCY_CHECK_H
#define WRITER_RESOURCE_CONSISTENCY_CHECK_H

#include "writer/reflect/source.h"
#include "writer/store/store.h"

struct consistency_check;

struct consistency_result {
	const char *inconclusive; /* why it says nothing; NULL: it does */
	const char *version;      /* at which it was made */
	uint64_t objects;         /* at the server */
	uint64_t missing;         /* the server has them, the cache does not */
	uint64_t extra;           /* the other way round */
	uint64_t different;       /* of another UID or resourceVersion */
	const char *const *names; /* sentences about some of them */
	size_t name_count;
};

/*
 * Begin one, of a resource whose content is whole and stands at the RV that the store says: everything that
 * was heard is applied.
 *
 * source    what its Reflector works with; copied, what it refers to is borrowed
 * resource  its position in the store, also when that becomes another one while the check runs; borrowed
 * on_done   called once, from the loop; consistency_check_free() may be called inside it. The result is lent.
 * Returns   0; -EINVAL, -ENOMEM (then on_done is not called)
 */
typedef void consistency_done_fn(void *context, const struct consistency_result *result);
int consistency_check_start(const struct source *source, const struct store *store, const unsigned *resource,
			    consistency_done_fn *on_done, void *context, struct consistency_check **ret);
/* Also while it runs. NULL is fine. */
void consistency_check_free(struct consistency_check *check);

#endif
