/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The README's example: which pods run on a node, read from the node's cache.
 *
 *	cc agent.c $(pkg-config --cflags --libs libinformer) -o agent && ./agent NODE
 */
#include <informer.h>
#include <stdio.h>
#include <string.h>

/* Prints the names of a node's pods. Returns 0 or a negative code. */
static int print_pods(struct informer *inf, const char *node)
{
	struct informer_resource *pods;
	struct informer_snapshot snap;
	struct informer_iter it;
	struct informer_object pod;
	const char *name;
	size_t length;
	int r;

	if ((r = informer_wait_synced(inf, "pods", 5000)) < 0 ||
	    (r = informer_resource_open(inf, "pods", &pods)) < 0 ||
	    (r = informer_begin(inf, &snap)) < 0)
		return r;
	r = informer_by_index(&snap, pods, "nodeName", node, strlen(node), &it);
	while (r == 0 && (r = informer_next(&it, &pod)) > 0)
		if ((r = informer_object_name(&pod, &name, &length)) == 0)
			printf("%.*s\n", (int)length, name);
	informer_end(&snap);
	return r;
}

int main(int argc, char **argv)
{
	struct informer *inf = NULL;
	char why[512];
	int r;

	if (argc != 2)
		return fprintf(stderr, "usage: agent NODE\n"), 2;
	if ((r = informer_attach(NULL, &inf)) < 0 || (r = print_pods(inf, argv[1])) < 0) {
		informer_error_text(r, why, sizeof(why));
		fprintf(stderr, "agent: %s\n", why);
	}
	informer_detach(inf);
	return r < 0 || fflush(stdout) != 0;
}
