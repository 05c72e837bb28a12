/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follow: runs a handler of the library until nothing more is to be done. Output that the callbacks add is
 * written after they return. A slow reader of the output therefore delays no callback, which would hold a
 * snapshot open.
 */
#ifndef TOOLS_INFORMERCTL_FOLLOW_H
#define TOOLS_INFORMERCTL_FOLLOW_H

#include "tools/informerctl/cli.h"
#include "tools/printer/text.h"

/* Above this much unwritten output the handler is paused. */
#define FOLLOW_FULL (1u << 20)

/*
 * inf, out   the handle and the output (of fd 1)
 * timeout_ms time limit; negative: none
 * stop       set by a callback to end; later callbacks must do nothing
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
 * Run until stop, the time limit, or the output's reader is gone.
 *
 * ret_timed_out  the time limit was reached
 * Returns        -1, or the exit code after a message
 */
int
follow_run(struct follow *follow, const struct informer_handler_options *options, bool *ret_timed_out);

/* For callbacks: call after adding to the output. */
void
follow_added(struct follow *follow);

/*
 * For on_synced, if there was no object: print on stderr that there is none, and in which namespace.
 *
 * options    the handler's; namespace_ NULL: all
 */
void
follow_say_empty(const struct informer_handler_options *options);

#endif
