/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Version probe: does the server know this RV already? Asked by a watch that hears nothing, because a watch
 * at an RV of the future is not refused but answered with silence, while a list of one item `NotOlderThan`
 * that RV gets 504 ResourceVersionTooLarge (after about 3 s). It is asked over a connection of its own: the
 * silent stream's may be dead.
 *
 * Threads: the writer's loop thread only.
 */
#ifndef WRITER_REFLECT_VERSION_PROBE_H
#define WRITER_REFLECT_VERSION_PROBE_H

#include "writer/reflect/source.h"
#include "writer/reflect/request_result.h"

struct version_probe;

enum version_probe_answer {
	VERSION_PROBE_KNOWN,	/* silence means that nothing happened */
	VERSION_PROBE_AHEAD,	/* the server is behind this RV: one must list */
	VERSION_PROBE_UNKNOWN,	/* the question failed for another reason; ask again later */
};

/*
 * on_answer  called once, from the loop; version_probe_free() may be called inside it. result is lent for
 *            the call.
 * Returns    0, -EINVAL, -ENOMEM (then on_answer is not called)
 */
typedef void version_probe_fn(void *context, enum version_probe_answer answer,
			      const struct request_result *ended);
int version_probe_start(const struct source *source, const char *version, version_probe_fn *on_answer,
			void *context, struct version_probe **ret_probe);
/* Also while it runs. NULL is fine. */
void version_probe_free(struct version_probe *f);

#endif
