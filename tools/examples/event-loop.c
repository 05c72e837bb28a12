/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events in an event loop of one's own, without any thread: the library's one descriptor beside others. Here
 * poll() waits for it and for standard input, at whose end the program ends; epoll, libuv and others take the
 * descriptor alike.
 *
 *	cc event-loop.c $(pkg-config --cflags --libs libinformer) -o event-loop && ./event-loop node-1
 */
#include <informer.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

static int pods;

static void show(const char *what, const struct informer_object *pod)
{
	char key[512];
	size_t length;

	if (informer_object_key(pod, key, sizeof(key), &length) == 0)
		printf("%s %s, %d here\n", what, key, pods);
	fflush(stdout);
}

static void on_add(void *context, const struct informer_object *pod, bool is_initial)
{
	(void)context;
	pods++;
	show(is_initial ? "is" : "came", pod);
}

static void on_delete(void *context, const struct informer_object *pod, bool final_state_known)
{
	(void)context, (void)final_state_known;
	pods--;
	show("went", pod);
}

int main(int argc, char **argv)
{
	char selector[300];
	const struct informer_handler_options options = {.size = sizeof(options),
							 .resource = "pods",
							 .field_selector = selector,
							 .on_add = on_add,
							 .on_delete = on_delete};
	struct informer *inf;

	if (argc != 2)
		return fprintf(stderr, "usage: event-loop NODE\n"), 2;
	snprintf(selector, sizeof(selector), "spec.nodeName=%s", argv[1]);
	if (informer_attach(NULL, &inf) < 0 || informer_add_handler(inf, &options, NULL) < 0)
		return fprintf(stderr, "cannot attach\n"), 1;
	for (;;) {
		struct pollfd fds[] = {{informer_fd(inf), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
		char discarded[256];

		informer_dispatch(inf); /* never blocks; calls on_add and on_delete */
		if (poll(fds, 2, -1) > 0 && fds[1].revents &&
		    read(STDIN_FILENO, discarded, sizeof(discarded)) <= 0)
			break;
	}
	informer_detach(inf);
	return 0;
}
