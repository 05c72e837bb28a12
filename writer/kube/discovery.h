/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery finds out which resources the API server has, and asks only what the wanted names need. It reads
 * /api/v1 first, then /apis and the groups that names contain. It reads all groups only for an unqualified
 * name that core lacks, or for an unknown name. A server with aggregated discovery (apidiscovery.k8s.io)
 * returns all groups with /apis; other servers are asked group by group.
 *
 * A group that cannot be read (an aggregated API server that is down) leaves the others usable. Where
 * discovery itself is forbidden (403), a built-in table of well-known resources is used.
 *
 * For an ambiguous name core comes first, then preferred versions in the server's order of groups, then other
 * versions, as with kubectl.
 */
#ifndef WRITER_KUBE_DISCOVERY_H
#define WRITER_KUBE_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>

#include "writer/kube/resource_name.h"
#include "writer/kube/transport.h"

struct discovery;

/*
 * Called once, from the loop. The discovery may be freed in it.
 *
 * result   0: discovery_resolve() may be called. Otherwise nothing is known: an error of transport.h (server
 *          not reached, try again), -EACCES for 401, -EAGAIN for a 429 or 5xx answer (try again), -EPROTO for
 *          an answer of no Kubernetes API
 * message  borrowed for the call; "" when result is 0
 */
typedef void discovery_done_fn(void *ctx, struct discovery *discovery, int result, const char *message);

/*
 * Remembers, by its ETag, the document of all groups in which names were missing. So asking again about the
 * same names, or fewer, costs the server nothing. Zeroed at first.
 */
struct discovery_memory {
	char *etag;
};
void discovery_memory_done(struct discovery_memory *memory);

/*
 * Start to resolve `names` (as users write them; copied). To try again, free and start anew.
 *
 * memory   kept between discoveries; borrowed until discovery_free(). With it core, which has no ETag, is
 *          asked again only for a name without a group. NULL: none
 * Returns  0; -EINVAL with message: a name cannot be one; -ENOMEM
 */
int discovery_start(struct transport *transport, const char *const *names, size_t n_names,
		    struct discovery_memory *memory, discovery_done_fn *on_done, void *ctx,
		    struct discovery **ret_discovery, char **ret_error);
/* Whether the server said that all is as it was: then what it has of similar names is not known. */
bool discovery_is_unchanged(const struct discovery *discovery);

/* Free it, also while it runs: then on_done is not called. NULL is fine. */
void discovery_free(struct discovery *discovery);

/*
 * What a name means. `name` is one of those given to discovery_start().
 *
 * ret_resource  borrowed until discovery_free()
 * Returns       0; -ENOENT: no such resource (the message has the nearest names, and the groups that could
 *               not be read); -EAGAIN: unknown, but a group that may have it could not be read this time: try
 *               again later; -ENOTSUP: it exists but cannot be listed and watched; -EINVAL: not a name
 */
int discovery_resolve(const struct discovery *discovery, const char *name,
		      const struct kube_resource **ret_resource, char **ret_error);

/* Whether the built-in table was used (403); worth a line in the log. */
bool discovery_used_builtin(const struct discovery *discovery);

#endif
