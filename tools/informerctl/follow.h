/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Following changes: a handler of the library, driven until there is nothing more to do. What its calls add
 * to the output is written after them: an output that is not read delays no call, which would hold a snapshot
 * open.
 */
#ifndef TOOLS_INFORMERCTL_FOLLOW_H
#define TOOLS_INFORMERCTL_FOLLOW_H

#include "tools/informerctl/cli.h"
#include "tools/printer/text.h"

/* Above this much unwritten output the handler is held back. */
#define FOLLOW_FULL (1u << 20)

/*
 * inf, out   the handle and the output (of fd 1)
 * timeout_ms how long at most; negative: for ever
 * stop       set by a call of the handler: that was all. Calls that still come are to do nothing
 */
struct follow {
	struct informer *inf;
	struct text *out;
	int timeout_ms;
	bool stop;

	struct informer_handler *handler;
	bool paused;
	bool lost;
};

/*
 * Until stop, the time's end, or the end of the output's reader.
 *
 * ret_timed_out  it was the time
 * Returns        -1, or the exit code after a message
 */
int
follow_run(struct follow *follow, const struct informer_handler_options *options, bool *ret_timed_out);

/* For calls of the handler, after they added to the output. */
void
follow_added(struct follow *follow);

/*
 * For on_synced, when nothing was there: say so on stderr, and where we look; silence would look like a
 * fault.
 *
 * options    the handler's; namespace_ NULL: everywhere
 */
void
follow_say_empty(const struct informer_handler_options *options);

#endif
