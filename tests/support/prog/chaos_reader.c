/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chaos_reader SOCKET FILE: looks at all pods, one snapshot after the other, and appends to FILE what is
 * another than in the one before (tests/support/event_model.h). What is written of one snapshot ends with its
 * line T; a reader that was killed begins anew with a line H. Ends with SIGTERM.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shm-layout/fnv.h"
#include "tests/support/told_state.h"

#define PLACES 32768u

struct known {
	struct told_state state;
	bool present;
	uint64_t seen;	/* in this snapshot */
};

static volatile sig_atomic_t ends;
static struct known table[PLACES];
static uint64_t snapshots, generation;

static void
on_signal(int number)
{
	(void)number;
	ends = 1;
}

static struct known *
find(const char *key)
{
	uint32_t hash = fnv32(key, strlen(key));

	for (uint32_t i = 0; i < PLACES; i++) {
		struct known *k = &table[(hash + i) % PLACES];

		if (!*k->state.key || strcmp(k->state.key, key) == 0)
			return k;
	}
	fprintf(stderr, "chaos_reader: too many names\n");
	exit(1);
}

/* Returns 0; INFORMER_E_EXPIRED when the snapshot was revoked meanwhile: discard what was read. */
static int
look_at(const struct informer_object *object, bool anew, FILE *out)
{
	struct told_state s;
	struct known *k;
	int r = informer_object_key(object, s.key, sizeof(s.key), NULL);

	if (r < 0)
		return r;
	k = find(s.key);
	k->seen = snapshots;
	/* an equal seq is an equal state, within one generation */
	if (k->present && k->state.seq == informer_object_seq(object) && !anew)
		return 0;
	told_state_of(object, &s);
	if (s.expired)
		return INFORMER_E_EXPIRED;
	if (!k->present)
		fprintf(out, "A 0 %s %s %s %016llx %llu\n", s.key, s.uid, s.rv, (unsigned long long)s.hash,
			(unsigned long long)s.seq);
	else if (k->state.seq != s.seq || k->state.hash != s.hash || strcmp(k->state.rv, s.rv) != 0)
		fprintf(out, "U %s %s %s %016llx - 0 %llu\n", s.key, s.uid, s.rv, (unsigned long long)s.hash,
			(unsigned long long)s.seq);
	k->present = true;
	k->state = s;
	return 0;
}

static int
look(const struct informer_snapshot *snapshot, struct informer_resource *pods,
     const struct informer_moment *moment, FILE *out)
{
	struct informer_resource_info info = {.size = sizeof(info)};
	struct informer_object pod;
	struct informer_iter it;
	unsigned long long lineage;
	char version[64] = "";
	int r = informer_resource_info(snapshot, pods, &info);

	snapshots++;
	if (r == 0) {
		/* before the list, whose result says whether this was read in time */
		snprintf(version, sizeof(version), "%.*s", (int)info.resource_version_length,
			 info.resource_version);
		r = informer_list(snapshot, pods, &it);
	}
	while (r >= 0 && (r = informer_next(&it, &pod)) > 0)
		r = look_at(&pod, moment->generation != generation, out);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < PLACES; i++) {
		struct known *k = &table[i];

		if (k->present && k->seen != snapshots) {
			fprintf(out, "D 2 %s %s - 0 %llu\n", k->state.key, k->state.uid,
				(unsigned long long)k->state.seq);
			k->present = false;
		}
	}
	generation = moment->generation;
	memcpy(&lineage, moment->lineage, sizeof(lineage));
	fprintf(out, "T %016llx %llu %s %d\n", lineage, (unsigned long long)moment->seq,
		*version ? version : "0", info.synced);
	return 0;
}

/* Read one snapshot, and write once. */
static void
take_snapshot(struct informer *inf, struct informer_resource *pods, struct informer_moment *last, int fd)
{
	struct informer_moment moment = {0};
	struct informer_snapshot snapshot;
	size_t length = 0;
	char *text = NULL;
	FILE *out;
	int r;

	if (informer_begin(inf, &snapshot) < 0)
		return;
	r = informer_snapshot_moment(&snapshot, &moment);
	if (r == 0 && (moment.generation != last->generation || moment.epoch != last->epoch)) {
		out = open_memstream(&text, &length);
		if (!out)
			exit(1);
		r = look(&snapshot, pods, &moment, out);
		fclose(out);
		if (r < 0 && r != INFORMER_E_EXPIRED && r != INFORMER_E_NO_RESOURCE) {
			fprintf(stderr, "chaos_reader: %s\n", informer_strerror(r));
			exit(1);
		}
		/* objects seen in an expired snapshot are written too, without the line T */
		if (write(fd, text, length) != (ssize_t)length)
			exit(1);
		if (r == 0)
			*last = moment;
		free(text);
	}
	informer_end(&snapshot);
}

int
main(int argc, char **argv)
{
	struct informer_options options = {.size = sizeof(options), .reader_name = "chaos_reader"};
	struct sigaction action = {.sa_handler = on_signal};
	struct informer_moment last = {0};
	struct informer_resource *pods;
	struct informer *inf;
	char line[64];
	int fd, length;

	if (argc != 3)
		return 2;
	options.socket_path = argv[1];
	fd = open(argv[2], O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
	sigaction(SIGTERM, &action, NULL);
	if (fd < 0 || informer_attach(&options, &inf) < 0 || informer_resource_open(inf, "pods", &pods) < 0)
		return 1;
	length = snprintf(line, sizeof(line), "\nH %d - 0 0 0 0 0\n", (int)getpid());
	if (write(fd, line, (size_t)length) != length)
		return 1;
	while (!ends) {
		if (informer_dispatch(inf) < 0)
			return 1;
		take_snapshot(inf, pods, &last, fd);
		nanosleep(&(struct timespec){.tv_nsec = 4000000}, NULL);
	}
	informer_detach(inf);
	close(fd);
	return 0;
}
