/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip, good enough for a server under test: one block with fixed codes and a greedy search for repetitions.
 * JSON of Kubernetes objects becomes a fourth to a tenth, at several hundred MB/s.
 */
#ifndef TOOLS_INFORMER_SIM_GZIP_H
#define TOOLS_INFORMER_SIM_GZIP_H

#include "tools/informer-sim/buf.h"

/* Append the compressed bytes. */
void
sim_gzip(const char *data, size_t len, struct sim_buf *buf);

#endif
