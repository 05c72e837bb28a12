/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip at the API server's level, the fastest. JSON of Kubernetes objects shrinks to a tenth or less.
 *
 * Source: k8s.io/apiserver pkg/endpoints/handlers/responsewriters/writers.go
 * (defaultGzipContentEncodingLevel)
 */
#ifndef TOOLS_SERVING_GZIP_H
#define TOOLS_SERVING_GZIP_H

#include "tools/serving/buf.h"

/* Append the compressed bytes. */
void api_gzip(const char *data, size_t len, struct api_buf *buf);

struct z_stream_s; /* zlib's */
/* Set a stream's allocator: as with api_alloc(), the process exits when memory runs out. */
void api_gzip_memory(struct z_stream_s *stream);

#endif
