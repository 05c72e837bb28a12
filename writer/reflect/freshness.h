/*
 * Freshness: does the server know this RV already? Asked by a watch that hears nothing, because a watch at an RV of the
 * future is not refused but answered with silence, while a list of one item `NotOlderThan` that RV gets
 * 504 ResourceVersionTooLarge (after about 3 s). It is asked over a connection of its own: the silent stream's may be dead.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_FRESHNESS_H
#define WRITER_FRESHNESS_H

#include "writer/reflect/feed.h"
#include "writer/reflect/outcome.h"

struct freshness;

enum freshness_answer {
	FRESHNESS_KNOWN,	/* silence means that nothing happened */
	FRESHNESS_AHEAD,	/* the server is behind this RV: one must list */
	FRESHNESS_UNKNOWN,	/* the question failed for another reason; ask again later */
};

/*
 * on_answer  called once, from the loop; freshness_free() may be called inside it. outcome is lent for the call.
 * Returns    0, -EINVAL, -ENOMEM (then on_answer is not called)
 */
typedef void freshness_fn(void *context, enum freshness_answer answer, const struct outcome *outcome);
int freshness_start(const struct feed *feed, const char *version, freshness_fn *on_answer, void *context,
		    struct freshness **ret_freshness);
/* Also while it runs. NULL is fine. */
void freshness_free(struct freshness *f);

#endif
