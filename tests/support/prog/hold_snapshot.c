/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader that does not let go: it holds a snapshot of all pods until informerd revokes it. It also keeps a
 * handler, and what the handler was told.
 *
 *	hold_snapshot SOCKET
 *
 * HELD n        the snapshot is open and shows n pods. Not printed if it is revoked before all were counted
 * REVOKED       a call says EXPIRED. Until then each call repeated its first answer; lent memory was read too
 * BACK          the snapshot was ended, and another one begun
 * TOLD SEQ      at SIGUSR1: how far the handler has read
 * KEY RV        at SIGTERM: what the handler was told, sorted, once a snapshot shows the same; then exit 0
 */
#include <errno.h>
#include <poll.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader-lib/informer.h"
#include "shm-layout/fnv.h"

struct pod {
	char key[128], rv[32];
};

static void *told;
static size_t told_count;
static volatile sig_atomic_t asked, ends;

static int
by_key(const void *a, const void *b)
{
	return strcmp(((const struct pod *)a)->key, ((const struct pod *)b)->key);
}

static struct pod *
find(const struct pod *pod)
{
	void *node = tfind(pod, &told, by_key);

	return node ? *(struct pod **)node : NULL;
}

/* False: the snapshot was revoked, and its events come again. */
static bool
pod_of(const struct informer_object *object, struct pod *ret)
{
	const char *rv;
	size_t length;

	*ret = (struct pod){0};
	if (informer_object_key(object, ret->key, sizeof(ret->key), NULL) < 0 ||
	    informer_object_resource_version(object, &rv, &length) < 0)
		return false;
	snprintf(ret->rv, sizeof(ret->rv), "%.*s", (int)length, rv);
	return true;
}

static void
put(const struct informer_object *object)
{
	struct pod pod, *known;

	if (!pod_of(object, &pod))
		return;
	known = find(&pod);
	if (!known) {
		known = malloc(sizeof(*known));
		if (!known)
			abort();
		*known = pod;
		tsearch(known, &told, by_key);
		told_count++;
	}
	*known = pod;
}

static void
on_add(void *context, const struct informer_object *object, bool is_initial)
{
	(void)context;
	(void)is_initial;
	put(object);
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *object)
{
	(void)context;
	(void)old;
	put(object);
}

static void
on_delete(void *context, const struct informer_object *object, bool final_state_known)
{
	struct pod pod, *known;

	(void)context;
	(void)final_state_known;
	if (!pod_of(object, &pod))
		return;
	known = find(&pod);
	if (!known)
		return;
	tdelete(known, &told, by_key);
	free(known);
	told_count--;
}

static void
say(void *context, enum informer_log_level level, const char *message)
{
	(void)context;
	if (level <= INFORMER_LOG_WARNING)
		fprintf(stderr, "hold_snapshot: %s\n", message);
}

static void
on_signal(int number)
{
	if (number == SIGTERM)
		ends = 1;
	else
		asked = 1;
}

static void
turn(struct informer *inf)
{
	struct pollfd fd = {.fd = informer_fd(inf), .events = POLLIN};

	poll(&fd, 1, 20);
	informer_dispatch(inf);
}

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

/* ---- what is lent ---- */

#define LENT_MAX 10000u

static const char *lent[LENT_MAX];
static size_t lent_length[LENT_MAX], lent_count;

static void
borrow(const struct informer_snapshot *snap, struct informer_resource *pods)
{
	struct informer_object pod;
	struct informer_iter it;

	if (informer_list(snap, pods, &it) < 0)
		return;
	while (lent_count < LENT_MAX && informer_next(&it, &pod) > 0)
		if (informer_object_uid(&pod, &lent[lent_count], &lent_length[lent_count]) == 0)
			lent_count++;
}

/* True if all bytes are valid in a uid, or zeros. */
static bool
look_at_lent(void)
{
	for (size_t i = 0; i < lent_count; i++)
		for (size_t at = 0; at < lent_length[i]; at++)
			if (lent[i][at] && !strchr("0123456789abcdef-", lent[i][at]))
				return false;
	return true;
}

/* Repeat the calls until one says EXPIRED. Returns 0; -1 when an answer differs from the first. */
static int
hold(const struct informer_snapshot *snap, struct informer_resource *pods)
{
	struct sum first, now;
	int r = sum_up(snap, pods, &first);

	if (r == 0 && first.objects == 0)
		return -1;
	borrow(snap, pods);
	if (r == 0) {
		printf("HELD %llu\n", (unsigned long long)first.objects);
		fflush(stdout);
	}
	while (r == 0) {
		r = sum_up(snap, pods, &now);
		if (r == 0 && memcmp(&first, &now, sizeof(first)) != 0)
			return -1;
		poll(NULL, 0, 20);
	}
	if (r != INFORMER_E_EXPIRED)
		fprintf(stderr, "the held snapshot says %s\n", informer_strerror(r));
	if (!look_at_lent())
		return -1;
	return r == INFORMER_E_EXPIRED ? 0 : -1;
}

/* True if the handler was told exactly what a snapshot shows. */
static bool
is_as_told(struct informer *inf, struct informer_resource *pods)
{
	struct informer_snapshot snap;
	struct informer_object object;
	struct informer_iter it;
	struct pod pod, *known;
	size_t count = 0, same = 0;
	int r;

	if (informer_begin(inf, &snap) < 0)
		return false;
	r = informer_list(&snap, pods, &it);
	while (r == 0 && (r = informer_next(&it, &object)) > 0) {
		known = pod_of(&object, &pod) ? find(&pod) : NULL;
		same += known && strcmp(known->rv, pod.rv) == 0;
		count++;
		r = 0;
	}
	informer_end(&snap);
	return r == 0 && count == same && count == told_count;
}

static void
print_pod(const void *node, VISIT visit, int depth)
{
	const struct pod *pod = *(struct pod *const *)node;

	(void)depth;
	if (visit == postorder || visit == leaf)
		printf("%s %s\n", pod->key, pod->rv);
}

static void
print_seq(struct informer *inf)
{
	struct informer_moment moment = {0};
	struct informer_snapshot snap;

	if (informer_begin(inf, &snap) == 0) {
		informer_snapshot_moment(&snap, &moment);
		informer_end(&snap);
	}
	printf("TOLD %llu\n", (unsigned long long)moment.seq);
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	struct informer_options options = {
		.size = sizeof(options), .reader_name = "hold_snapshot", .log = say};
	struct informer_handler_options handler = {.size = sizeof(handler),
						   .resource = "pods",
						   .on_add = on_add,
						   .on_update = on_update,
						   .on_delete = on_delete};
	struct sigaction action = {.sa_handler = on_signal};
	struct informer_snapshot snap;
	struct informer_resource *pods;
	struct informer *inf;

	if (argc != 2)
		return 2;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	options.socket_path = argv[1];
	if (informer_attach(&options, &inf) < 0 || informer_wait_synced(inf, "pods", 30000) < 0 ||
	    informer_resource_open(inf, "pods", &pods) < 0 || informer_add_handler(inf, &handler, NULL) < 0)
		return 1;
	while (told_count == 0)
		turn(inf);
	if (informer_begin(inf, &snap) < 0 || hold(&snap, pods) < 0)
		return 1;
	printf("REVOKED\n");
	fflush(stdout);
	informer_end(&snap);
	while (informer_begin(inf, &snap) < 0)
		turn(inf);
	informer_end(&snap);
	printf("BACK\n");
	fflush(stdout);
	while (!ends || !is_as_told(inf, pods)) {
		turn(inf);
		if (asked)
			print_seq(inf);
		asked = 0;
	}
	twalk(told, print_pod);
	informer_detach(inf);
	return 0;
}
