/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run status: each informer-run listens on a socket in its user's folder, and answers with one JSON document.
 * `informer-run status` shows these documents.
 *
 *	$INFORMER_RUN_DIR, else /run/informer-run (root), $XDG_RUNTIME_DIR/informer-run, /tmp/informer-run-UID
 *	└── PID-RANDOM.sock
 *
 * A killed informer-run leaves its socket behind: connections to it are refused, and the next informer-run
 * that starts removes it.
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
 * Listen. describe appends one JSON document. Returns 0, or a negative errno after a message: informer-run
 * works without.
 */
int status_listen(struct status_server *server, struct loop *loop,
		  void (*describe)(void *context, struct text *out), void *context);
void
status_done(struct status_server *server);

/* Run `informer-run status`. Returns the exit code: 1 if nothing (of this name) runs. */
int
status_show(const struct status_options *options);

#endif
