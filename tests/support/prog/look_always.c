/* SPDX-License-Identifier: Apache-2.0 */
/*
 * look_always UID NODE IMAGE [short]: look up pods all the time, and say MISSED when a snapshot is not one
 * moment of one configuration. It says so when the index "image" (spec.containers[0].image) comes and goes.
 *
 *   - the pod with this UID is always there
 *   - what an index has under a value is what the objects of the same snapshot say
 *   - of a synced resource all objects have containers, or none has
 *   - the first snapshot, which stays open, shows what it showed; but not with "short": of generations that
 *     were replaced the last one alone is kept
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "reader-lib/informer.h"

#define PAUSE_US 500u

struct look {
	struct informer *inf;
	struct informer_resource *pods;
	struct informer_path *node, *image;
	const char *uid, *node_value, *image_value;
};

struct sums {
	uint64_t objects, on_node, with_image, with_containers;
};

static bool
has(const struct informer_object *o, const struct informer_path *path, const char *value, bool *ret_equal)
{
	const char *text;
	size_t length;
	int r = informer_get_string(o, path, &text, &length);

	*ret_equal = r == 0 && length == strlen(value) && memcmp(text, value, length) == 0;
	return r == 0;
}

static int
sum(const struct look *l, const struct informer_snapshot *snap, struct sums *ret)
{
	struct informer_object o;
	struct informer_iter it;
	bool equal;
	int r = informer_list(snap, l->pods, &it);

	*ret = (struct sums){0};
	while (r >= 0 && (r = informer_next(&it, &o)) > 0) {
		ret->objects++;
		has(&o, l->node, l->node_value, &equal);
		ret->on_node += equal;
		ret->with_containers += has(&o, l->image, l->image_value, &equal);
		ret->with_image += equal;
	}
	return r;
}

/* The fault of this snapshot, or NULL. */
static const char *
check(const struct look *l, const struct informer_snapshot *snap, bool *indexed)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_object o;
	struct sums sums;
	uint64_t count;
	int r;

	if (informer_get_by_uid(snap, l->pods, l->uid, strlen(l->uid), &o) != 0)
		return "the pod is not there";
	if (sum(l, snap, &sums) < 0 || informer_resource_info(snap, l->pods, &info) < 0)
		return "the list cannot be read";
	if (informer_count_by_index(snap, l->pods, "nodeName", l->node_value, strlen(l->node_value), &count) <
		    0 ||
	    count != sums.on_node)
		return "the index nodeName is not what the objects say";
	r = informer_count_by_index(snap, l->pods, "image", l->image_value, strlen(l->image_value), &count);
	*indexed = r == 0;
	if (r == 0 ? count != sums.with_image : r != INFORMER_E_NO_INDEX)
		return "the index image is not what the objects say";
	if (info.synced && sums.with_containers != 0 && sums.with_containers != sums.objects)
		return "some have containers, some have not";
	return NULL;
}

int
main(int argc, char **argv)
{
	struct look l = {.uid = argv[1],
			 .node_value = argc >= 4 ? argv[2] : "",
			 .image_value = argc >= 4 ? argv[3] : ""};
	struct informer_snapshot first, snap;
	struct sums before, now;
	bool indexed = false, was_indexed = false;
	const char *why = NULL;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 4 || informer_attach(NULL, &l.inf) < 0 ||
	    informer_wait_synced(l.inf, "pods", 10000) < 0 ||
	    informer_resource_open(l.inf, "pods", &l.pods) < 0 ||
	    informer_path_compile(l.inf, "spec.nodeName", strlen("spec.nodeName"), &l.node) < 0 ||
	    informer_path_compile(l.inf, "spec.containers[0].image", strlen("spec.containers[0].image"),
				  &l.image) < 0 ||
	    informer_begin(l.inf, &first) < 0 || sum(&l, &first, &before) < 0)
		return 1;
	if (argc > 4)
		informer_end(&first);
	puts("LOOKING");
	for (unsigned i = 0; !why; i++) {
		if (informer_begin(l.inf, &snap) < 0)
			return 1;
		why = check(&l, &snap, &indexed);
		informer_end(&snap);
		if (!why && indexed != was_indexed)
			printf("index image: %s\n", indexed ? "there" : "gone");
		was_indexed = indexed;
		if (!why && argc == 4 && i % 64 == 0 &&
		    (sum(&l, &first, &now) < 0 || memcmp(&before, &now, sizeof(now)) != 0))
			why = "the first snapshot has changed";
		usleep(PAUSE_US);
	}
	printf("MISSED: %s\n", why);
	return 1;
}
