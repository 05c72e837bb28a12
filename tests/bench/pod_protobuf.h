/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bench's pods in protobuf, as an API server sends them: informer-sim's encoder, whose bytes are
 * upstream's.
 */
#ifndef TESTS_BENCH_POD_PROTOBUF_H
#define TESTS_BENCH_POD_PROTOBUF_H

#include "tests/bench/pods.h"

/*
 * Append a PodList of `count` replicas as a document; and a MODIFIED event of each, in their first other
 * version.
 */
void pod_protobuf_list(const struct pods *p, enum pods_naming naming, size_t count, struct bytes *out);
void pod_protobuf_changes(const struct pods *p, enum pods_naming naming, size_t count, struct bytes *out);

#endif
