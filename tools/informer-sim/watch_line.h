/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of a watch: {"type":...,"object":...} in the shape that was asked for, or the frames of one in
 * protobuf. One is prepared at a time, as pieces of the stream.
 */
#ifndef TOOLS_INFORMER_SIM_WATCH_LINE_H
#define TOOLS_INFORMER_SIM_WATCH_LINE_H

#include "tools/informer-sim/watch_stream.h"

/* Make the stream's own text (s->own) the line to send. */
void sim_watch_own_line(struct sim_stream *s);
/* Put an object there; it stays referenced by its batch or view until the line is sent. rv 0: its own. */
void sim_watch_line(struct sim_stream *s, enum sim_change change, struct api_object *object, uint64_t rv);
/* Put a bookmark there. end_mark: of all that was there at the beginning. */
void sim_watch_bookmark(struct sim_stream *s, uint64_t rv, bool end_mark);
/* Make s->between the line that a rule says; in protobuf the frame that it stands for. */
void sim_watch_said(struct sim_stream *s, const char *text);
/* Put an ERROR line there; it is sent next, and then the stream ends. */
void sim_watch_error(struct sim_stream *s, const struct api_status *status);

#endif
