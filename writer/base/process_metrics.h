/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Process metrics: what this process takes from the system, under the names of Prometheus' client libraries
 * (process_*), so that dashboards for other programs fit.
 *
 * A figure that the system does not tell (no /proc) is left out.
 */
#ifndef WRITER_BASE_PROCESS_METRICS_H
#define WRITER_BASE_PROCESS_METRICS_H

#include "writer/base/metrics_text.h"

/*
 * Write process_cpu_seconds_total, process_resident_memory_bytes, process_virtual_memory_bytes,
 * process_open_fds, process_max_fds and process_start_time_seconds.
 *
 * The start time is read once, in Unix time: it changes with the process alone, and not when the clock is
 * set.
 *
 * Threads: one at a time. Cost: three small files of /proc. Before Linux 6.2 also an entry of /proc/self/fd
 * for each open descriptor, about 1 us each.
 */
void process_metrics(struct metrics_text *m);

#endif
