/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Audit log: lines into a file, by a thread of its own, so that a slow disk holds up nobody. What is waiting
 * to be written is bounded; lines beyond it are lost, and a line says how many.
 *
 * A file that would become too long is renamed to FILE.1, the one before to FILE.2, and so on, and the last
 * one removed. Files are their owner's alone (0600).
 *
 * Threads   gw_audit_log_write() and gw_audit_log_reopen() from any; the rest from one
 */
#ifndef TOOLS_INFORMER_GATEWAY_AUDIT_LOG_H
#define TOOLS_INFORMER_GATEWAY_AUDIT_LOG_H

#include <stddef.h>
#include <stdint.h>

#define GW_AUDIT_WAITING_MAX (4u << 20) /* bytes */

struct gw_audit_log;

/*
 * file       "-": standard output, of any length
 * max_bytes  of a file; 0: no limit
 * keep       old files
 * Returns    0, or a negative errno with message: it cannot be written to
 */
int gw_audit_log_open(const char *file, uint64_t max_bytes, unsigned keep, struct gw_audit_log **ret_log,
		      char **ret_error);
/* Writes what waits. NULL is fine. */
void gw_audit_log_close(struct gw_audit_log *log);

/* One line, with its end. Never waits. */
void gw_audit_log_write(struct gw_audit_log *log, const char *line, size_t length);
/* Somebody has renamed the file: begin a new one. */
void gw_audit_log_reopen(struct gw_audit_log *log);

/* Lines that were lost. */
uint64_t gw_audit_log_lost(struct gw_audit_log *log);

#endif
