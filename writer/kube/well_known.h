/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Well-known resources: what every Kubernetes of the last years has, for servers that
 * forbid discovery (403). Not a cache of the server's answer, only the stand-in.
 */
#ifndef WRITER_KUBE_WELL_KNOWN_H
#define WRITER_KUBE_WELL_KNOWN_H

#include "writer/kube/resource_name.h"

extern const struct kube_resource well_known[];
extern const size_t n_well_known;

#endif
