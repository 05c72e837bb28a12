/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node agent's questions to `informerd --preset node-agent` before a simulated cluster: the container of an
 * ID and of a process, the workload of a Pod, what has an address, and parked keys. A hundred Pods are asked
 * for, as many as a node has.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "reader-lib/informer-node.h"
#include "reader-lib/informer.h"
#include "tests/bench/servers.h"
#include "tests/bench/world.h"

#define HOT 100u
#define PARKED 100000u
#define CHANGES 5000u
#define WORLD_PODS 1024u

struct node {
	struct bench *b;
	struct server sim;
	struct daemon daemon;
	struct informer *inf;
	struct informer_resource *pods;
	char key[HOT][300], id[HOT][96], ip[HOT][64];
	unsigned at;
};

static void
start_sim(struct node *n, size_t pods)
{
	char nodes[24], line[512];

	snprintf(nodes, sizeof(nodes), "%zu", pods / 100);
	n->sim.process = process_start(n->b, NULL, "informer-sim", "--nodes", nodes, "--pods-per-node", "97",
				       NULL);
	process_line(&n->sim.process, line, 60);
	if (sscanf(line, "READY url=%127s", n->sim.url) != 1)
		bench_fail("informer-sim said: %s", line);
}

/* Used bytes of the arena, and how many pods it has. */
static double
used_bytes(struct informer *inf, double *ret_pods)
{
	cJSON *stat, *arena;
	char *text;
	double used;

	bench_need(informer_stat_json(inf, 10000, &text, NULL), "stat");
	stat = cJSON_Parse(text);
	informer_free(inf, text);
	arena = cJSON_GetObjectItem(stat, "arena");
	used = cJSON_GetNumberValue(cJSON_GetObjectItem(arena, "used_bytes"));
	*ret_pods = cJSON_GetNumberValue(cJSON_GetObjectItem(
		cJSON_GetArrayItem(cJSON_GetObjectItem(stat, "resources"), 0), "objects"));
	cJSON_Delete(stat);
	return used;
}

static void
attach(struct node *n, const char *name, const char *flag)
{
	struct informer_options options = {.size = sizeof(options), .reader_name = "bench"};

	n->daemon = daemon_start(n->b, name, &n->sim, NULL, flag);
	options.socket_path = n->daemon.socket;
	bench_need(informer_attach(&options, &n->inf), "attach");
	bench_need(informer_wait_synced(n->inf, "pods", 60000), "sync");
	bench_need(informer_wait_synced(n->inf, NULL, 60000), "sync");
}

static void
detach(struct node *n)
{
	informer_detach(n->inf);
	daemon_end(n->b, &n->daemon);
}

static bool
read_text(const struct informer_object *pod, struct informer_path *path, char *text, size_t size)
{
	const char *data;
	size_t length;

	if (informer_get_string(pod, path, &data, &length) < 0 || length == 0 || length >= size)
		return false;
	snprintf(text, size, "%.*s", (int)length, data);
	return true;
}

/* Write /proc/1/cgroup of a process in the first Pod's container. */
static void
make_proc(const struct node *n, const char *uid)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/proc", n->b->directory);
	if (mkdir(path, 0700) < 0 || setenv("HOST_PROC", path, 1) < 0)
		bench_need(-errno, path);
	snprintf(path, sizeof(path), "%s/proc/1", n->b->directory);
	if (mkdir(path, 0700) < 0)
		bench_need(-errno, path);
	snprintf(path, sizeof(path), "%s/proc/1/cgroup", n->b->directory);
	f = fopen(path, "we");
	if (!f || fprintf(f, "0::/kubepods/burstable/pod%s/%s\n", uid, strchr(n->id[0], ':') + 3) < 0 ||
	    fclose(f) != 0)
		bench_need(-errno, path);
}

static void
choose_pods(struct node *n)
{
	struct informer_path *id, *ip, *uid;
	struct informer_snapshot snap;
	struct informer_object pod;
	struct informer_iter it;
	unsigned count = 0;
	char first[64];

	bench_need(informer_resource_open(n->inf, "pods", &n->pods), "pods");
	bench_need(informer_path_compile(n->inf, "status.containerStatuses[0].containerID", 39, &id), "path");
	bench_need(informer_path_compile(n->inf, "status.podIP", 12, &ip), "path");
	bench_need(informer_path_compile(n->inf, "metadata.uid", 12, &uid), "path");
	bench_need(informer_begin(n->inf, &snap), "snapshot");
	bench_need(informer_list(&snap, n->pods, &it), "pods");
	while (count < HOT && informer_next(&it, &pod) > 0) {
		if (!read_text(&pod, id, n->id[count], sizeof(n->id[0])) ||
		    !read_text(&pod, ip, n->ip[count], sizeof(n->ip[0])))
			continue;
		informer_object_key(&pod, n->key[count], sizeof(n->key[0]), NULL);
		if (count++ == 0)
			read_text(&pod, uid, first, sizeof(first));
	}
	informer_end(&snap);
	informer_path_free(id);
	informer_path_free(ip);
	informer_path_free(uid);
	if (count < HOT)
		bench_fail("only %u pods run", count);
	make_proc(n, first);
}

/* ---- questions, each in a snapshot of its own ---- */

static int
ask_get(const struct node *n, const struct informer_snapshot *s, unsigned i)
{
	struct informer_object pod;

	return informer_get_key(s, n->pods, n->key[i], strlen(n->key[i]), &pod);
}

static int
ask_pod_of_id(const struct node *n, const struct informer_snapshot *s, unsigned i)
{
	struct informer_object pod;

	return informer_pod_by_container_id(s, n->pods, n->id[i], strlen(n->id[i]), &pod);
}

static int
ask_container_of_id(const struct node *n, const struct informer_snapshot *s, unsigned i)
{
	struct informer_container c = {.size = sizeof(c)};

	return informer_container_of_id(s, n->pods, n->id[i], strlen(n->id[i]), &c);
}

static int
ask_container_of_pid(const struct node *n, const struct informer_snapshot *s, unsigned i)
{
	struct informer_container c = {.size = sizeof(c)};

	(void)i;
	return informer_container_of_pid(s, n->pods, 1, 0, &c);
}

static int
ask_workload(const struct node *n, const struct informer_snapshot *s, unsigned i)
{
	struct informer_workload w = {.size = sizeof(w)};
	struct informer_object pod;
	int r = informer_get_key(s, n->pods, n->key[i], strlen(n->key[i]), &pod);

	return r < 0 ? r : informer_workload(&pod, &w);
}

static int
ask_address(const struct node *n, const struct informer_snapshot *s, unsigned i)
{
	struct informer_address a = {.size = sizeof(a)};

	return informer_by_address(s, n->ip[i], strlen(n->ip[i]), &a);
}

typedef int question(const struct node *n, const struct informer_snapshot *s, unsigned i);

/* ns a question */
static double
ask(struct node *n, question *q)
{
	unsigned ops = n->b->quick ? 20000 : 100000;
	struct informer_snapshot s;
	uint64_t t = cpu_ns();
	int r = 0;

	for (unsigned i = 0; i < ops && r == 0; i++) {
		n->at = (n->at + 37) % HOT;
		r = informer_begin(n->inf, &s);
		if (r == 0) {
			r = q(n, &s, n->at);
			informer_end(&s);
		}
	}
	bench_need(r, "a question about a pod");
	return (double)(cpu_ns() - t) / ops;
}

static void
measure_questions(struct node *n)
{
	static const struct {
		const char *row;
		question *ours, *beside;
	} rows[] = {
		{"node_container_of_id", ask_container_of_id, ask_pod_of_id},
		{"node_container_of_pid", ask_container_of_pid, ask_container_of_id},
		{"node_workload", ask_workload, ask_get},
		{"node_by_address", ask_address, ask_get},
	};

	for (size_t k = 0; k < COUNT(rows); k++) {
		struct rounds ours = {0}, beside = {0};

		ask(n, rows[k].ours);
		for (unsigned i = 0; i < (n->b->quick ? 3u : 9u); i++) {
			rounds_add(&ours, ask(n, rows[k].ours));
			rounds_add(&beside, ask(n, rows[k].beside));
		}
		report_rounds(n->b->report, &ours, NULL, &beside, "%s", rows[k].row);
	}
}

/* ---- parked keys ---- */

static void
on_answer(void *context, void *parked, int result, const struct informer_object *object)
{
	(void)parked;
	(void)object;
	if (result != -ECANCELED)
		++*(unsigned *)context;
}

static uint64_t
newest_seq(struct informer *inf)
{
	struct informer_moment moment = {0};
	struct informer_snapshot snap;

	bench_need(informer_begin(inf, &snap), "snapshot");
	informer_snapshot_moment(&snap, &moment);
	informer_end(&snap);
	return moment.seq;
}

/* A handler with PARKED keys that no object has, all of them looked up. */
static struct informer_handler *
park_many(struct informer *inf, enum informer_by by, unsigned *answers)
{
	struct informer_parking_options o = {
		.size = sizeof(o), .resource = "pods", .by = by, .context = answers, .on_answer = on_answer};
	struct informer_handler *h;
	char key[65];

	bench_need(informer_add_parking(inf, &o, &h), "parking");
	for (unsigned i = 0; i < PARKED; i++) {
		snprintf(key, sizeof(key), "%064x", i);
		bench_need(informer_park(h, key, 64, -1, NULL), "park");
	}
	while (informer_dispatch(inf) > 0)
		;
	return h;
}

static void
done_parking(struct informer_handler *h, unsigned answers)
{
	informer_remove_handler(h);
	if (answers > 0)
		bench_fail("%u parked keys were answered", answers);
}

static double
dispatch_ns(struct informer *inf)
{
	uint64_t t = cpu_ns();

	while (informer_dispatch(inf) > 0)
		;
	return (double)(cpu_ns() - t);
}

/*
 * What a change of the simulator costs that no parked key waits for, ns, wakes left out: new Pods are among
 * the changes, so each is compared with the keys.
 */
static double
parked_change(struct node *n, enum informer_by by)
{
	uint64_t seq, end = now_ns() + 60000000000u;
	unsigned answers = 0;
	struct informer_handler *h = park_many(n->inf, by, &answers);
	double ns;

	seq = newest_seq(n->inf);
	free(server_get(&n->sim, true, "/sim/churn?rate=5000&count=%u", CHANGES));
	while (newest_seq(n->inf) < seq + CHANGES && now_ns() < end)
		nanosleep(&(struct timespec){0, 10000000}, NULL);
	seq = newest_seq(n->inf) - seq;
	ns = dispatch_ns(n->inf);
	done_parking(h, answers);
	if (seq == 0)
		bench_fail("nothing changed");
	return ns / (double)seq;
}

/* ns of dispatch for an update that brings no value, such as a status, in commits of WORLD_BATCH */
static double
update_ns(struct bench *b, struct world *w, struct informer *inf, unsigned *version)
{
	struct bytes text = {0};
	double ns = 0;

	++*version;
	for (unsigned i = 0; i < WORLD_PODS; i++) {
		text.length = 0;
		world_event(b, PODS_SPREAD, i, WORLD_PODS, *version, &text);
		world_feed(w, DECODE_WATCH, text.data, text.length);
		if ((i + 1) % WORLD_BATCH == 0) {
			world_commit(w);
			ns += dispatch_ns(inf);
		}
	}
	bytes_done(&text);
	return ns / WORLD_PODS;
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *pod)
{
	(void)context;
	(void)old;
	(void)pod;
}

/* What an update costs an agent with a handler more while keys are parked that it does not concern. */
static void
measure_parked_updates(struct bench *b)
{
	struct informer_handler_options handler = {
		.size = sizeof(handler), .resource = "pods", .on_update = on_update};
	struct informer_options options = {.size = sizeof(options), .reader_name = "bench"};
	struct rounds with = {0}, without = {0};
	struct world *w = world_new(b);
	unsigned version = 0, answers = 0;
	struct informer_handler *h;
	struct informer *inf;

	world_load(w, b, PODS_SPREAD, WORLD_PODS);
	world_serve_events(w);
	options.socket_path = w->socket;
	bench_need(informer_attach(&options, &inf), "attach");
	bench_need(informer_add_handler(inf, &handler, &h), "handler");
	while (!informer_handler_has_synced(h)) {
		world_turn(w);
		dispatch_ns(inf);
	}
	update_ns(b, w, inf, &version);
	for (unsigned i = 0; i < (b->quick ? 5u : 15u); i++) {
		rounds_add(&without, update_ns(b, w, inf, &version));
		h = park_many(inf, INFORMER_BY_CONTAINER_ID, &answers);
		update_ns(b, w, inf, &version); /* parking them filled the processor's caches */
		rounds_add(&with, update_ns(b, w, inf, &version));
		done_parking(h, answers);
	}
	report_value(b->report, rounds_median(&with) - rounds_median(&without), NULL, 0,
		     "node_parked_update");
	informer_detach(inf);
	world_free(w);
}

void
measure_node(struct bench *b, size_t total)
{
	struct node *n = bench_alloc(1, sizeof(*n));
	double alone, preset, pods;

	n->b = b;
	start_sim(n, total);
	attach(n, "pods", "");
	alone = used_bytes(n->inf, &pods);
	detach(n);
	attach(n, "node", "--preset=node-agent");
	preset = used_bytes(n->inf, &pods);
	report_value(b->report, preset / pods, NULL, alone / pods, "node_preset_bytes_per_pod");
	choose_pods(n);
	measure_questions(n);
	report_value(b->report, parked_change(n, INFORMER_BY_UID), NULL, 0, "node_parked_uid_change");
	report_value(b->report, parked_change(n, INFORMER_BY_CONTAINER_ID), NULL, 0, "node_parked_id_change");
	detach(n);
	server_end(&n->sim);
	free(n);
	measure_parked_updates(b);
}
