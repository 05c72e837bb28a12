/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader with two handlers under informer_run() that says "synced PID" and then has nothing to do: for
 * strace.
 */
#include <stdio.h>
#include <unistd.h>

#include "reader-lib/informer.h"

static void
nothing(void *context, const struct informer_object *object, bool is_initial)
{
	(void)context;
	(void)object;
	(void)is_initial;
}

int
main(void)
{
	struct informer_handler_options o = {.size = sizeof(o), .resource = "pods", .on_add = nothing};
	struct informer *inf;
	int r = informer_attach(NULL, &inf);

	for (int i = 0; i < 2 && r == 0; i++)
		r = informer_add_handler(inf, &o, NULL);
	if (r == 0)
		r = informer_run(inf);
	if (r == 0)
		r = informer_wait_handler_synced(inf, NULL, 30000);
	if (r < 0) {
		fprintf(stderr, "idle_reader: %s\n", informer_strerror(r));
		return 1;
	}
	printf("synced %ld\n", (long)getpid());
	fflush(stdout);
	for (;;)
		pause();
}
