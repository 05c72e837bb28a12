/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bench's pods as in every cluster: with metadata.managedFields, which captured pods have lost.
 *
 * Source    k8s.io/apimachinery pkg/util/managedfields; which list is keyed by what, k8s.io/api/core/v1
 */
#ifndef TESTS_BENCH_MANAGED_PODS_H
#define TESTS_BENCH_MANAGED_PODS_H

/*
 * Create folder `to` and write into it the pods of folder `from` as an API server returns them. The
 * controller that made a pod owns its labels, owners and spec, the kubelet its status.
 *
 * Returns  0, negative errno
 */
int managed_pods_write(const char *from, const char *to);

#endif
