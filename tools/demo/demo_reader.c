/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The demo's reader, an agent like those of users. It attaches, and looks up objects by key and by index.
 * Every second (or MILLISECONDS) it prints the generation, the number of lookups and their mean time. It runs
 * until it is killed, even without the daemon.
 *
 *	demo-reader NAME SOCKET [MILLISECONDS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reader-lib/informer.h"

#define KEYS 512

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Choose keys to look up, "namespace/name", and the node of the last pod that has one. */
static int
choose_keys(struct informer *inf, struct informer_resource *pods, const struct informer_path *node,
	    char keys[KEYS][320], char ret_node[256])
{
	struct informer_snapshot snap;
	struct informer_object pod;
	struct informer_iter it;
	int n = 0;

	if (informer_begin(inf, &snap) < 0)
		return 0;
	if (informer_list(&snap, pods, &it) == 0)
		while (n < KEYS && informer_next(&it, &pod) > 0) {
			const char *ns, *name, *on;
			size_t ns_length, name_length, on_length;

			informer_object_namespace(&pod, &ns, &ns_length);
			informer_object_name(&pod, &name, &name_length);
			snprintf(keys[n++], sizeof(keys[0]), "%.*s/%.*s", (int)ns_length, ns,
				 (int)name_length, name);
			if (informer_get_string(&pod, node, &on, &on_length) == 0)
				snprintf(ret_node, 256, "%.*s", (int)on_length, on);
		}
	informer_end(&snap);
	return n;
}

int
main(int argc, char **argv)
{
	static char keys[KEYS][320];
	struct informer_options options = {.size = sizeof(options)};
	struct informer *inf;
	struct informer_resource *pods;
	struct informer_path *node;
	char node_name[256] = "";
	double interval = argc == 4 ? atof(argv[3]) / 1000 : 1;
	int count, r;

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: demo-reader NAME SOCKET [MILLISECONDS]\n");
		return 2;
	}
	options.reader_name = argv[1];
	options.socket_path = argv[2];
	if ((r = informer_attach(&options, &inf)) < 0 || (r = informer_wait_synced(inf, "pods", 30000)) < 0 ||
	    (r = informer_resource_open(inf, "pods", &pods)) < 0 ||
	    (r = informer_path_compile(inf, "spec.nodeName", 13, &node)) < 0) {
		char why[256];

		informer_error_text(r, why, sizeof(why));
		fprintf(stderr, "%s: %s\n", argv[1], why);
		return 1;
	}
	count = choose_keys(inf, pods, node, keys, node_name);
	for (;;) {
		struct informer_moment moment = {0};
		struct informer_snapshot snap;
		uint64_t lookups = 0, failed = 0, gone = 0, on_node = 0;
		double start = now(), taken = 0;

		/* 16 lookups of each key, each in its own snapshot; then a pause of 20 ms */
		while (now() < start + interval) {
			double t = now();

			for (int n = 0; n < 16 * count; n++) {
				int i = n % count;
				struct informer_object pod;
				const char *on;
				size_t on_length;

				r = informer_begin(inf, &snap);
				if (r == 0)
					r = informer_get_key(&snap, pods, keys[i], strlen(keys[i]), &pod);
				if (r == 0)
					informer_get_string(&pod, node, &on, &on_length);
				gone += r == INFORMER_E_NOT_FOUND;
				failed += r < 0 && r != INFORMER_E_NOT_FOUND;
				informer_end(&snap);
				lookups++;
			}
			taken += now() - t;
			nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
		}
		if (informer_begin(inf, &snap) == 0) {
			informer_snapshot_moment(&snap, &moment);
			informer_count_by_index(&snap, pods, "nodeName", node_name, strlen(node_name),
						&on_node);
			informer_end(&snap);
		}
		printf("  %-8s generation %llu, epoch %6llu: %llu lookups by key, %.0f ns each, %llu failed; "
		       "%llu pods on %s\n",
		       argv[1], (unsigned long long)moment.generation, (unsigned long long)moment.epoch,
		       (unsigned long long)lookups, taken * 1e9 / (double)lookups, (unsigned long long)failed,
		       (unsigned long long)on_node, node_name);
		fflush(stdout);
		if (gone > lookups / 2)
			count = choose_keys(inf, pods, node, keys, node_name);
		informer_dispatch(inf);
	}
}
