/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A helper for rsyslog's mmexternal: labels the log lines of containers from the node's cache. It sets
 * $!k8s!pod, $!k8s!namespace, $!k8s!container and $!k8s!workload ("Deployment/web"), also for a Pod that was
 * deleted a short while ago. Install it, run informerd --preset node-agent, and configure rsyslog:
 *
 *	cc rsyslog_helper.c $(pkg-config --cflags --libs libinformer libcjson) -o informer-rsyslog
 *
 *	input(type="imfile" file="/var/log/containers/?*.log" tag="pod" addMetadata="on")
 *	action(type="mmexternal" binary="/usr/local/bin/informer-rsyslog" interface.input="fulljson")
 *
 * Arguments: informerd's socket (the environment is empty); how many ms the line of a new container waits.
 */
#include <cjson/cJSON.h>
#include <informer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct informer *inf;
static struct informer_resource *pods;

struct container {
	char pod[254], ns[64], name[64], id[65], workload[400];
};

/* Reads a file of /var/log/containers: POD_NAMESPACE_CONTAINER-ID.log */
static bool read_name(const char *path, struct container *c)
{
	const size_t ending = 65 + strlen(".log");
	const char *slash = strrchr(path, '/');
	char rest[sizeof(c->name) + 70];
	size_t length;

	if (sscanf(slash ? slash + 1 : path, "%253[^_]_%63[^_]_%133s", c->pod, c->ns, rest) != 3 ||
	    (length = strlen(rest)) <= ending || length - ending >= sizeof(c->name))
		return false;
	snprintf(c->name, sizeof(c->name), "%.*s", (int)(length - ending), rest);
	snprintf(c->id, sizeof(c->id), "%s", rest + length - ending + 1);
	return true;
}

/* The kubelet reports a new container's ID about a second after its start. The Pod is known before. */
static int look(struct container *c, struct informer_moment *ret_moment)
{
	struct informer_container found = {.size = sizeof(found)};
	struct informer_workload workload = {.size = sizeof(workload)};
	struct informer_snapshot snap;
	char key[sizeof(c->ns) + sizeof(c->pod)];
	int r = informer_begin(inf, &snap);

	if (r < 0)
		return r;
	informer_snapshot_moment(&snap, ret_moment);
	snprintf(key, sizeof(key), "%s/%s", c->ns, c->pod);
	r = informer_container_of_id(&snap, pods, c->id, strlen(c->id), &found);
	if (r == INFORMER_E_NOT_FOUND)
		r = informer_find(&snap, pods, INFORMER_BY_KEY, key, strlen(key), &found.pod, NULL);
	if (r == 0 && (r = informer_workload(&found.pod, &workload)) == 0)
		snprintf(c->workload, sizeof(c->workload), "%.*s/%.*s", (int)workload.kind.length,
			 workload.kind.data, (int)workload.name.length, workload.name.data);
	informer_end(&snap);
	return r;
}

static long long now_ms(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_MONOTONIC, &t), t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* Looks until the deadline. A container that was waited for in vain is not waited for again. */
static bool find(struct container *c, int wait_ms)
{
	static char unknown[256][65]; /* by the ID's first two digits */
	const char digits[] = {c->id[0], c->id[1], '\0'};
	char *in_vain = unknown[strtoul(digits, NULL, 16) % 256];
	long long deadline = strcmp(in_vain, c->id) == 0 ? 0 : now_ms() + wait_ms, left;
	struct informer_moment moment = {0};

	while (look(c, &moment) < 0) {
		if ((left = deadline - now_ms()) <= 0)
			return strcpy(in_vain, c->id), false;
		informer_wait_commit(inf, moment.generation ? &moment : NULL, (int)left);
	}
	return true;
}

int main(int argc, char **argv)
{
	struct informer_options options = {.size = sizeof(options), .socket_path = argc > 1 ? argv[1] : NULL};
	int wait_ms = argc > 2 ? atoi(argv[2]) : 200;
	static char *line, text[2048];
	size_t size = 0;

	if (informer_attach(&options, &inf) < 0 || informer_resource_open(inf, "pods", &pods) < 0)
		return 1;
	while (getline(&line, &size, stdin) > 0) { /* each message gets one line */
		cJSON *message = cJSON_Parse(line), *reply = cJSON_CreateObject(), *labels;
		cJSON *metadata = cJSON_GetObjectItem(cJSON_GetObjectItem(message, "$!"), "metadata");
		const char *path = cJSON_GetStringValue(cJSON_GetObjectItem(metadata, "filename"));
		struct container c = {0};

		if (path && read_name(path, &c) && find(&c, wait_ms)) {
			labels = cJSON_AddObjectToObject(cJSON_AddObjectToObject(reply, "$!"), "k8s");
			cJSON_AddStringToObject(labels, "pod", c.pod);
			cJSON_AddStringToObject(labels, "namespace", c.ns);
			cJSON_AddStringToObject(labels, "container", c.name);
			cJSON_AddStringToObject(labels, "workload", c.workload);
		}
		puts(cJSON_PrintPreallocated(reply, text, sizeof(text), false) ? text : "{}");
		fflush(stdout);
		cJSON_Delete(reply);
		cJSON_Delete(message);
	}
	informer_detach(inf);
	return 0;
}
