/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `informer-run status` shows: each informer-run has a socket in a folder of its user's, and answers
 * with one JSON document.
 *
 *	$INFORMER_RUN_DIR, else /run/informer-run (root), $XDG_RUNTIME_DIR/informer-run, /tmp/informer-run-UID
 *	└── PID-RANDOM.sock
 *
 * Sockets of those that were killed are refused when asked, and removed by the next informer-run that starts.
 */
#ifndef TOOLS_INFORMER_RUN_RUN_STATUS_H
#define TOOLS_INFORMER_RUN_RUN_STATUS_H

#include "tools/informer-run/loop.h"
#include "tools/informer-run/run_flags.h"
#include "tools/printer/text.h"

struct status_server {
	struct loop *loop;
	struct loop_descriptor descriptor;
	char path[108];
	void (*describe)(void *context, struct text *out);
	void *context;
};

/*
 * Listen. describe adds one JSON document. Returns 0, or a negative errno after a message: one can do
 * without.
 */
int status_listen(struct status_server *server, struct loop *loop,
		  void (*describe)(void *context, struct text *out), void *context);
void
status_done(struct status_server *server);

/* `informer-run status`. Returns the exit code: 1 when nothing (of this name) runs. */
int
status_show(const struct status_options *options);

#endif
