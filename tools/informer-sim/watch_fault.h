/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a watch: what goes wrong between two lines, or with the one that is about to be sent. */
#ifndef TOOLS_INFORMER_SIM_WATCH_FAULT_H
#define TOOLS_INFORMER_SIM_WATCH_FAULT_H

#include "tools/informer-sim/watch_stream.h"

/*
 * Between two lines: does something go wrong? It may put another line in the place of the one that is next,
 * or end the stream. Returns whether the watch is to be asked again for what comes next.
 */
bool
sim_watch_ask(struct sim_stream *s);
/* Forget the line that is next. */
void sim_watch_drop(struct sim_stream *s);
/* Do to the line that is about to be sent what s->fault says. */
void
sim_watch_spoil(struct sim_stream *s);
/* Before bytes are given out: be slow or frozen. Returns how many may be, 0: the client has gone. */
size_t
sim_watch_slow(struct sim_stream *s, size_t max);

#endif
