/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consume SOCKET NAME: reads pods as the consumer NAME and prints a line for each call, until it is killed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "reader-lib/informer.h"

static void
say(const char *what, const struct informer_object *pod)
{
	char key[512];

	if (informer_object_key(pod, key, sizeof(key), NULL) == 0)
		printf("%s %s\n", what, key);
}

static void
on_add(void *context, const struct informer_object *pod, bool is_initial)
{
	(void)context;
	say(is_initial ? "initial" : "add", pod);
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *pod)
{
	(void)context;
	say(old ? "update" : "coalesced", pod);
}

static void
on_delete(void *context, const struct informer_object *pod, bool final_state_known)
{
	(void)context;
	(void)final_state_known;
	say("delete", pod);
}

static void
on_overflow(void *context, enum informer_overflow kind)
{
	(void)context;
	printf("%s\n", kind == INFORMER_COALESCED ? "COALESCED" : "RESYNC");
}

static void
on_error(void *context, const struct informer_watch_status *status)
{
	(void)context;
	if (status->recovered)
		printf("recovered\n");
	else
		printf("error %d %s: %s\n", status->http_code, status->reason, status->message);
}

int
main(int argc, char **argv)
{
	struct informer_options options = {
		.size = sizeof(options), .socket_path = argv[1], .reader_name = "consume"};
	struct informer_handler_options handler = {.size = sizeof(handler),
						   .resource = "pods",
						   .consumer = argv[2],
						   .on_add = on_add,
						   .on_update = on_update,
						   .on_delete = on_delete,
						   .on_overflow = on_overflow,
						   .on_error = on_error};
	struct informer_handler *h;
	struct informer *inf;

	if (argc != 3)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (informer_attach(&options, &inf) < 0 || informer_add_handler(inf, &handler, &h) < 0 ||
	    informer_run(inf) < 0) {
		fprintf(stderr, "consume: cannot begin\n");
		return 1;
	}
	if (informer_wait_handler_synced(inf, h, 60000) == 0)
		printf("SYNCED\n");
	for (;;)
		pause();
}
