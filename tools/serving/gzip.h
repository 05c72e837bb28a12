/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip as the API server does it: at the quickest level. JSON of Kubernetes objects becomes a tenth or less.
 *
 * Source: k8s.io/apiserver pkg/endpoints/handlers/responsewriters/writers.go
 *         (defaultGzipContentEncodingLevel)
 */
#ifndef TOOLS_SERVING_GZIP_H
#define TOOLS_SERVING_GZIP_H

#include "tools/serving/buf.h"

/* Append the compressed bytes. */
void api_gzip(const char *data, size_t len, struct api_buf *buf);

struct z_stream_s; /* zlib's */
/* Give a stream its memory. The process ends when there is none, as with api_alloc(). */
void api_gzip_memory(struct z_stream_s *stream);

#endif
