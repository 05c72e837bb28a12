/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Audit line: one request and its outcome as a line of JSON. It holds no token, header or body.
 *
 *	{"time":"2026-01-31T10:00:00.123Z","listener":"tls","source":"10.0.0.7:41234","user":"alice",
 *	"verb":"list","resource":"pods","namespace":"web","rvAsked":"12","rv":"40","decision":"allowed",
 *	"code":200,"bytes":1234,"durationMs":1.250}
 *
 * Empty fields are left out. Bytes that are not UTF-8 become question marks.
 */
#ifndef TOOLS_INFORMER_GATEWAY_GATE_AUDIT_LINE_H
#define TOOLS_INFORMER_GATEWAY_GATE_AUDIT_LINE_H

#include "tools/informer-gateway/config/attributes.h"
#include "tools/serving/buf.h"

struct gw_audit_entry {
	uint64_t wall_ms; /* since 1970 */
	const char *listener, *source;
	const char *user, *uid;                 /* "": not known */
	const struct gw_attributes *attributes; /* NULL: refused before they were read */
	const char *rv_asked;
	uint64_t rv;
	const char *decision, *why;
	unsigned code;
	uint64_t bytes, duration_ns;
};

void gw_audit_line(const struct gw_audit_entry *entry, struct api_buf *out);

#endif
