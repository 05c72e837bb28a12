/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Audit log: its own thread writes lines to a file, so that a slow disk delays no request. The queue is
 * bounded. Lines beyond the bound are dropped, and a line in the log gives their number.
 *
 * The file has mode 0600 and no size limit. logrotate renames it; gw_audit_log_reopen() begins a new one.
 *
 * Threads   gw_audit_log_write() and gw_audit_log_reopen() from any; the rest from one
 */
#ifndef TOOLS_INFORMER_GATEWAY_GATE_AUDIT_LOG_H
#define TOOLS_INFORMER_GATEWAY_GATE_AUDIT_LOG_H

#include <stddef.h>
#include <stdint.h>

#define GW_AUDIT_WAITING_MAX (4u << 20) /* bytes */

struct gw_audit_log;

/*
 * file     "-": standard output
 * Returns  0, or a negative errno with message
 */
int gw_audit_log_open(const char *file, struct gw_audit_log **ret_log, char **ret_error);
/* Writes all queued lines. NULL is fine. */
void gw_audit_log_close(struct gw_audit_log *log);

/* Queue one line, with its line feed. Never blocks. */
void gw_audit_log_write(struct gw_audit_log *log, const char *line, size_t length);
/* The file was renamed: begin a new one. */
void gw_audit_log_reopen(struct gw_audit_log *log);

/* Number of dropped lines. */
uint64_t gw_audit_log_lost(const struct gw_audit_log *log);

#endif
