/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Audit log: lines into a file, by a thread of its own, so that a slow disk holds up nobody. What is waiting
 * to be written is bounded; lines beyond it are lost, and a line says how many.
 *
 * The file is its owner's alone (0600), and of any length: logrotate renames it, and gw_audit_log_reopen()
 * begins the next.
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
 * Returns  0, or a negative errno with message: it cannot be written to
 */
int gw_audit_log_open(const char *file, struct gw_audit_log **ret_log, char **ret_error);
/* Writes what waits. NULL is fine. */
void gw_audit_log_close(struct gw_audit_log *log);

/* One line, with its end. Never waits. */
void gw_audit_log_write(struct gw_audit_log *log, const char *line, size_t length);
/* Somebody has renamed the file: begin a new one. */
void gw_audit_log_reopen(struct gw_audit_log *log);

/* Lines that were lost. */
uint64_t gw_audit_log_lost(const struct gw_audit_log *log);

#endif
