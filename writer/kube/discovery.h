/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Discovery: which resources the API server has, asked just as far as the wanted names
 * need it: /api/v1 first; then /apis, and of it the named groups; all groups only for
 * an unqualified name that core does not have, or for an unknown one. A server with aggregated discovery
 * (apidiscovery.k8s.io) tells of all groups in its answer to /apis, others are asked group by group.
 *
 * A group that cannot be read (an aggregated API server that is down) leaves the others
 * usable. Where discovery itself is forbidden (403) a built-in table of well-known
 * resources answers.
 *
 * An ambiguous name means core first, then preferred versions in the server's order of
 * groups, then other versions, as with kubectl.
 */
#ifndef WRITER_KUBE_DISCOVERY_H
#define WRITER_KUBE_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>

#include "writer/kube/resource_name.h"
#include "writer/kube/transport.h"

struct discovery;

/*
 * Called once, from the loop.
 *
 * result    0: discovery_resolve() may be asked. Otherwise nothing is known: the error of
 *           transport.h for a server that was not reached (try again), -EACCES for 401,
 *           -EAGAIN for a 429 or 5xx answer (try again), -EPROTO for one that is no
 *           Kubernetes API
 * message   borrowed for the call; "" when result is 0
 * The discovery may be freed inside it.
 */
typedef void discovery_done_fn(void *ctx, struct discovery *discovery, int result, const char *message);

/*
 * What a server said last, so that asking again about names that it did not have costs it nothing: which
 * document of all groups they were not in. For the same names, or fewer. Begins as zeroes.
 */
struct discovery_memory {
	char *etag;
};
void discovery_memory_done(struct discovery_memory *memory);

/*
 * Start to find out what `names` mean (as users write them; copied). To try again, free
 * and start anew.
 *
 * memory    of the discoveries before, and for those after; borrowed until discovery_free(). With it core,
 *           which has no ETag, is asked again only for a name without a group. NULL: none
 * Returns   0, -EINVAL with message for a name that can be none, -ENOMEM
 */
int discovery_start(struct transport *transport, const char *const *names, size_t n_names,
		    struct discovery_memory *memory, discovery_done_fn *on_done, void *ctx,
		    struct discovery **ret_discovery, char **ret_error);
/* Whether the server said that all is as it was: then what it has of similar names is not known. */
bool discovery_is_unchanged(const struct discovery *discovery);

/* Also while it runs (then on_done is not called). NULL is fine. */
void discovery_free(struct discovery *discovery);

/*
 * What a name means; one of those given to discovery_start(), since no more was asked for.
 *
 * ret_resource  borrowed until discovery_free()
 * Returns   0, or
 *           -ENOENT   no such resource; the message has the nearest names, and the groups
 *                     that could not be read
 *           -EAGAIN   unknown, but its group (or, for an unqualified name, some group) could
 *                     not be read this time: try again later
 *           -ENOTSUP  it exists but cannot be listed and watched
 *           -EINVAL   not a name
 */
int discovery_resolve(const struct discovery *discovery, const char *name,
		      const struct kube_resource **ret_resource, char **ret_error);

/* Whether the built-in table had to answer (403); worth a line in the log. */
bool discovery_used_builtin(const struct discovery *discovery);

#endif
