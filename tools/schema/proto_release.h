/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A release of Kubernetes as a number that grows; 0: it is none.
 */
#ifndef TOOLS_SCHEMA_PROTO_RELEASE_H
#define TOOLS_SCHEMA_PROTO_RELEASE_H

/* Of its "1" and "36" (or "36+"). */
unsigned proto_release(const char *major, const char *minor);

/* Of "1.36" with major "1", or of k8s.io/api's "v0.36.6 …" with "v0". */
unsigned proto_release_of(const char *text, const char *major);

#endif
