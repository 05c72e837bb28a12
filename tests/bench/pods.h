/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bench's pods: real ones, or generated ones of real size, and replicas of them as text. Replicas have
 * their own names, UIDs, addresses, nodes, container IDs and times. Pod i always has the same text and is
 * made when needed.
 */
#ifndef TESTS_BENCH_PODS_H
#define TESTS_BENCH_PODS_H

#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "writer/base/growing.h"

/*
 * Hand over each pod of a folder of *.json files, one pod each, in order of the files' names. The pod is lent
 * and may be changed. Files that are not JSON are skipped.
 *
 * Returns  0, negative errno when there is no such folder
 */
int pod_files_each(const char *directory, void (*each)(void *context, const char *file, cJSON *pod),
		   void *context);

struct pods;

/* From such a folder. Returns 0, or negative errno (-ENOENT: there are none). */
int pods_load(const char *directory, struct pods **ret_pods);
void pods_free(struct pods *p);

size_t pods_count(const struct pods *p); /* how many before they are replicated */

/*
 * How replicas are named and placed.
 *
 * SPREAD    as a large cluster: namespaces of 1,000 pods ("openshift-etcd-0007"), 50 pods a node; as in the
 *           client-go program
 * CROWDED   many replicas in each workload: namespaces stay, 200 nodes; as in the prototypes' figures
 */
enum pods_naming { PODS_SPREAD, PODS_CROWDED };

struct pod_names {
	char ns[96], name[160], node[64];
};

/* Names of replica i of `total`. */
void pods_names(const struct pods *p, enum pods_naming naming, size_t i, size_t total, struct pod_names *ret);
void pods_node_name(size_t node, char ret[64]);

/*
 * Append the JSON text of replica i of `total`. Another version is another state of the pod: other times,
 * another resourceVersion.
 */
void pods_make(const struct pods *p, enum pods_naming naming, size_t i, size_t total, unsigned version,
	       struct bytes *out);

#endif
