/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cluster id: which cluster answers at the server's URL. Kubernetes gives a cluster no name of its own; the
 * customary id is the UID of its namespace kube-system, which lives as long as the cluster (its etcd) does.
 * Asked for at RV 0, which the API server answers from memory.
 *
 * Right     get on the namespace kube-system; without it the id is hidden
 * Threads   the loop's
 */
#ifndef WRITER_KUBE_CLUSTER_ID_H
#define WRITER_KUBE_CLUSTER_ID_H

#include "writer/kube/transport.h"

#define CLUSTER_ID_MAX 63

struct cluster_id_question;

/*
 * Called once, from the loop; the question is over then.
 *
 * result    1: it is `id`. 0: it is hidden from us (forbidden), or there is none (no such namespace); message
 *           says which. Negative: not known this time (the transport's error, -EACCES for 401, -EAGAIN for
 *           429 and 5xx)
 * id        "" unless result is 1; borrowed, as message
 */
typedef void cluster_id_fn(void *ctx, int result, const char *id, const char *message);

/*
 * anew     over a connection of its own (TRANSPORT_ASIDE): those that stand may lead to another server than
 *          one gets now
 * Returns  0, -ENOMEM
 */
int cluster_id_ask(struct transport *transport, bool anew, cluster_id_fn *on_answer, void *ctx,
		   struct cluster_id_question **ret_question);

/* on_answer is not called. NULL is fine. */
void cluster_id_cancel(struct cluster_id_question *question);

#endif
