/* SPDX-License-Identifier: Apache-2.0 */
/* Release: a Kubernetes release as an increasing number; 0: invalid. */
#ifndef TOOLS_SCHEMA_PROTO_RELEASE_H
#define TOOLS_SCHEMA_PROTO_RELEASE_H

/* From "1" and "36" (or "36+"). */
unsigned proto_release(const char *major, const char *minor);

/* From "1.36" with major "1", or k8s.io/api's "v0.36.6 …" with "v0". */
unsigned proto_release_of(const char *text, const char *major);

#endif
