/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader that does not let go: holds one snapshot until the daemon has moved to a new generation, then
 * checks that the old one still shows what it showed.
 *
 *	hold_snapshot SOCKET      prints HELD, then MOVED; exit 0 when nothing changed under the snapshot
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader-lib/informer.h"
#include "shm-layout/fnv.h"

/* Adds up all bytes of all objects. */
struct sum {
	uint64_t objects, bytes, hash;
};

static int
add(void *context, const char *data, size_t length)
{
	struct sum *s = context;

	s->hash = fnv64(s->hash, data, length);
	s->bytes += length;
	return 0;
}

static int
sum_up(const struct informer_snapshot *snap, struct informer_resource *pods, struct sum *ret)
{
	struct informer_object pod;
	struct informer_iter it;
	int r = informer_list(snap, pods, &it);

	*ret = (struct sum){0};
	while (r == 0 && (r = informer_next(&it, &pod)) > 0) {
		ret->objects++;
		r = informer_object_to_json(&pod, add, ret);
	}
	return r;
}

int
main(int argc, char **argv)
{
	struct informer_options options = {.size = sizeof(options), .reader_name = "hold_snapshot"};
	struct informer_moment held, now;
	struct informer_snapshot old, fresh;
	struct informer_resource *pods;
	struct informer *inf;
	struct sum before, after;
	int r;

	if (argc != 2)
		return 2;
	options.socket_path = argv[1];
	if (informer_attach(&options, &inf) < 0 || informer_wait_synced(inf, "pods", 30000) < 0 ||
	    informer_resource_open(inf, "pods", &pods) < 0 || informer_begin(inf, &old) < 0)
		return 1;
	informer_snapshot_moment(&old, &held);
	if (sum_up(&old, pods, &before) < 0 || before.objects == 0)
		return 1;
	printf("HELD %llu\n", (unsigned long long)before.objects);
	fflush(stdout);
	now = held;
	while (now.generation == held.generation) {
		r = informer_wait_commit(inf, &now, 60000);
		if (r < 0 && r != -EAGAIN) {
			fprintf(stderr, "wait: %s\n", informer_strerror(r));
			return 1;
		}
		if (informer_begin(inf, &fresh) < 0)
			return 1;
		informer_snapshot_moment(&fresh, &now);
		informer_end(&fresh);
	}
	r = sum_up(&old, pods, &after);
	if (r < 0 || memcmp(&before, &after, sizeof(before)) != 0) {
		fprintf(stderr, "the held snapshot changed (%d)\n", r);
		return 1;
	}
	printf("MOVED %llu to %llu\n", (unsigned long long)held.generation,
	       (unsigned long long)now.generation);
	informer_end(&old);
	informer_detach(inf);
	return 0;
}
