/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes in the program's own event loop, without a thread and without callbacks. poll() waits for the
 * library's one descriptor and for standard input, whose end ends the program. The descriptor also works with
 * epoll, libuv and other loops.
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

static void
take(const struct informer_change *change)
{
	switch (change->kind) {
	case INFORMER_CHANGE_ADDED:
		pods++;
		show(change->is_initial ? "is" : "came", change->object);
		break;
	case INFORMER_CHANGE_DELETED:
		pods--;
		show("went", change->object);
		break;
	default:
		break;
	}
}

int main(int argc, char **argv)
{
	char selector[300], why[512];
	const struct informer_handler_options options = {
		.size = sizeof(options), .resource = "pods", .field_selector = selector, .pull = true};
	const struct informer_change *change;
	struct informer_handler *handler;
	struct informer *inf = NULL;
	int r;

	if (argc != 2)
		return fprintf(stderr, "usage: event-loop NODE\n"), 2;
	snprintf(selector, sizeof(selector), "spec.nodeName=%s", argv[1]);
	r = informer_attach(NULL, &inf);
	if (r == 0)
		r = informer_add_handler(inf, &options, &handler);
	while (r == 0) {
		struct pollfd fds[] = {{informer_fd(inf), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
		char discarded[256];

		while ((r = informer_changes_next(handler, 0, &change)) > 0) /* does not wait */
			take(change);
		if (r == 0 && poll(fds, 2, -1) > 0 && fds[1].revents &&
		    read(STDIN_FILENO, discarded, sizeof(discarded)) <= 0)
			break;
	}
	if (r < 0) {
		informer_error_text(r, why, sizeof(why));
		fprintf(stderr, "event-loop: %s\n", why);
	}
	informer_detach(inf);
	return r < 0;
}
