/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Well-known resources of current Kubernetes versions: the substitute for servers that forbid discovery
 * (403).
 */
#ifndef WRITER_KUBE_WELL_KNOWN_H
#define WRITER_KUBE_WELL_KNOWN_H

#include "writer/kube/resource_name.h"

extern const struct kube_resource well_known[];
extern const size_t n_well_known;

#endif
