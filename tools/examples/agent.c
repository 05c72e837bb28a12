/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The README's example: which pods run on a node, read from the node's cache.
 *
 *	cc agent.c $(pkg-config --cflags --libs libinformer) -o agent && ./agent NODE
 */
#include <informer.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	struct informer *inf = NULL;
	struct informer_resource *pods;
	struct informer_snapshot snap;
	struct informer_iter it;
	struct informer_object pod;
	const char *name;
	char why[512];
	size_t n;

	if (argc != 2)
		return fprintf(stderr, "usage: agent NODE\n"), 1;
	if (informer_attach(NULL, &inf) || informer_wait_synced(inf, "pods", 5000)) {
		informer_last_error(inf, why, sizeof(why));
		return fprintf(stderr, "agent: %s\n", why), 1;
	}
	informer_resource_open(inf, "pods", &pods);
	informer_begin(inf, &snap);                 /* one consistent view; lookups need no system call */
	informer_by_index(&snap, pods, "nodeName", argv[1], strlen(argv[1]), &it);
	while (informer_next(&it, &pod) > 0 && !informer_object_name(&pod, &name, &n))
		printf("%.*s\n", (int)n, name);
	informer_end(&snap);
	informer_detach(inf);
}
