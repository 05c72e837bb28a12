/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bench's pods: real ones, or generated ones of real size, and replicas of them with names, UIDs,
 * addresses, nodes, container IDs and times of their own, as text. Pod i is always the same text, so nothing
 * has to be kept: they are made when they are needed.
 */
#ifndef TESTS_BENCH_PODS_H
#define TESTS_BENCH_PODS_H

#include <stddef.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "writer/base/growing.h"

/*
 * Hand over each pod of a folder of *.json files, one pod each, in the order of the files' names; the pod is
 * lent, and may be changed. What is no JSON is passed over.
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
 * SPREAD    as a large cluster: namespaces of 1,000 pods ("openshift-etcd-0007"), 50 pods a node; as the
 *           client-go program has it
 * CROWDED   as many replicas in each workload: namespaces stay, 200 nodes; as the prototypes' figures were
 *           measured
 */
enum pods_naming { PODS_SPREAD, PODS_CROWDED };

struct pod_names {
	char ns[96], name[160], node[64];
};

/* Names of replica i of `total`. */
void pods_names(const struct pods *p, enum pods_naming naming, size_t i, size_t total, struct pod_names *ret);
void pods_node_name(size_t node, char ret[64]);

/*
 * Append the JSON text of replica i of `total`. Another version is another state of the same pod: other
 * times, another resourceVersion.
 */
void pods_make(const struct pods *p, enum pods_naming naming, size_t i, size_t total, unsigned version,
	       struct bytes *out);

#endif
