/* SPDX-License-Identifier: Apache-2.0 */
/* Watch faults: faults between two lines, or of the line about to be sent. */
#ifndef TOOLS_INFORMER_SIM_WATCH_FAULT_H
#define TOOLS_INFORMER_SIM_WATCH_FAULT_H

#include "tools/informer-sim/watch_stream.h"

/*
 * Check the rules between two lines. May replace the next line or end the stream. Returns whether to ask the
 * watch again for its next line.
 */
bool
sim_watch_ask(struct sim_stream *s);
/* Drop the next line. */
void sim_watch_drop(struct sim_stream *s);
/* Apply s->fault to the line about to be sent. */
void
sim_watch_spoil(struct sim_stream *s);
/* Before sending bytes: delay or freeze. Returns how many bytes may be sent; 0: the client disconnected. */
size_t
sim_watch_slow(struct sim_stream *s, size_t max);

#endif
