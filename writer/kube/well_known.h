/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Well-known resources: what every Kubernetes of the last years has, for servers that
 * forbid discovery (403). Not a cache of the server's answer, only the stand-in.
 */
#ifndef WRITER_KUBE_WELL_KNOWN_H
#define WRITER_KUBE_WELL_KNOWN_H

#include <stddef.h>

struct well_known {
	const char *group, *version, *resource, *kind, *singular;
	const char *short_names; /* separated by spaces */
	int namespaced;
};

extern const struct well_known well_known[];
extern const size_t n_well_known;

#endif
