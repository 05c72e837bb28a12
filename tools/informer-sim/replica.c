/* SPDX-License-Identifier: Apache-2.0 */
/* Edits a parsed pod in place; see replica.h. */
#include "tools/informer-sim/replica.h"
#include "tools/informer-sim/doc_edit.h"
#include "tools/informer-sim/time_print.h"
#include "tools/printer/age.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
sim_hosts_init(struct sim_hosts *hosts, unsigned count, struct sim_rng *rng)
{
	/* An odd step through 16 bits visits each address once before addresses repeat. */
	uint32_t at = sim_rng_below(rng, 65536);

	hosts->items = api_alloc(count * sizeof(*hosts->items));
	hosts->count = count;
	for (unsigned i = 0; i < count; i++) {
		struct sim_host *host = &hosts->items[i];
		uint8_t high, low;

		do {
			at = (at + 40503) & 0xffff;
			high = (uint8_t)(at >> 8);
			low = (uint8_t)at;
		} while (low == 0 || low == 255);
		snprintf(host->ip, sizeof(host->ip), "10.0.%u.%u", high, low);
		snprintf(host->name, sizeof(host->name), "ip-10-0-%u-%u.us-east-2.compute.internal", high,
			 low);
	}
}

void
sim_hosts_done(struct sim_hosts *hosts)
{
	free(hosts->items);
	*hosts = (struct sim_hosts){0};
}

void
sim_pod_ip(struct sim_rng *rng, char out[16])
{
	uint64_t bits = sim_rng_next(rng);

	snprintf(out, 16, "10.%u.%u.%u", 128 + (unsigned)(bits & 127), (unsigned)(bits >> 8 & 255),
		 1 + (unsigned)(bits >> 16 & 255) % 254);
}

/* A replica's name: the pod's, with a new five-character suffix. Allocated. */
static char *
replica_name(const char *name, struct sim_rng *rng)
{
	size_t len = strlen(name), cut = len;
	char suffix[6];
	struct api_buf buf = {0};

	if (len > 6 && name[len - 6] == '-') {
		cut = len - 6;
		for (size_t i = len - 5; i < len; i++)
			if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]))
				cut = len;
	}
	sim_rng_suffix(rng, suffix, 5);
	api_buf_put(&buf, name, cut);
	api_buf_printf(&buf, "-%s", suffix);
	return api_buf_take(&buf);
}

/* Replace a member if the pod has it: a Pending pod has no address yet. */
static void
replace(struct api_doc *doc, struct api_node *object, const char *key, const char *text)
{
	struct api_node *node = api_get(object, key);

	if (node && node->type == API_STRING && node->text_len)
		sim_put_text(doc, node, text);
}

static void
replace_ips(struct api_doc *doc, struct api_node *list, const char *first, struct sim_rng *rng)
{
	char ip[48];

	if (!list || list->type != API_ARRAY)
		return;
	for (struct api_node *node = list->child; node; node = node->next) {
		const struct api_node *old = api_get(node, "ip");
		uint64_t bits = sim_rng_next(rng);

		if (!old || old->type != API_STRING)
			continue;
		if (memchr(old->text, ':', old->text_len))
			snprintf(ip, sizeof(ip), "fd01:0:0:%x::%x", (unsigned)(bits & 0xffff),
				 (unsigned)(bits >> 16 & 0xffff));
		else
			snprintf(ip, sizeof(ip), "%s", first);
		replace(doc, node, "ip", ip);
	}
}

/* Move a time. Only the first 19 characters change: fraction and zone stay. */
static void
move_time(struct api_doc *doc, struct api_node *node, int64_t seconds)
{
	char text[SIM_TIME_SIZE];
	char *copy;
	int64_t at;
	unsigned ns;

	if (node->text_len < SIM_TIME_SIZE - 1)
		return;
	snprintf(text, sizeof(text), "%.19sZ", node->text);
	if (!age_read((struct field_text){text, SIM_TIME_SIZE - 1}, &at, &ns))
		return;
	sim_time_print(at + seconds, text);
	copy = api_doc_alloc(doc, node->text_len);
	memcpy(copy, node->text, node->text_len);
	memcpy(copy, text, 19);
	node->text = copy;
}

static void
new_container_id(struct api_doc *doc, struct api_node *node, struct sim_rng *rng)
{
	_cleanup_(api_freep) char *old = api_text_dup(node);
	const char *behind = strstr(old, "://");
	char hex[65], text[128];

	if (!behind || behind - old > 40)
		return;
	sim_rng_hex(rng, hex, 64);
	snprintf(text, sizeof(text), "%.*s://%s", (int)(behind - old), old, hex);
	sim_put_text(doc, node, text);
}

static void
walk(struct api_doc *doc, struct api_node *node, int64_t seconds, struct sim_rng *rng)
{
	if (node->type == API_STRING) {
		if (node->key_len == 11 && !memcmp(node->key, "containerID", 11))
			new_container_id(doc, node, rng);
		else if (node->text_len >= 19 && isdigit((unsigned char)node->text[0]))
			move_time(doc, node, seconds);
		return;
	}
	for (struct api_node *child = node->child; child; child = child->next)
		walk(doc, child, seconds, rng);
}

void
sim_replica_make(struct api_doc *pod, const struct sim_hosts *hosts, struct sim_rng *rng)
{
	struct api_node *meta = api_get(pod->root, "metadata"), *spec = api_get(pod->root, "spec");
	struct api_node *status = api_get(pod->root, "status");
	const struct sim_host *host = &hosts->items[sim_rng_below(rng, hosts->count)];
	const struct api_node *host_network = api_get(spec, "hostNetwork");
	_cleanup_(api_freep) char *old_name = api_text_dup(api_get(meta, "name"));
	_cleanup_(api_freep) char *name = replica_name(old_name, rng);
	int64_t seconds = -(int64_t)sim_rng_below(rng, 30 * 86400);
	char uid[SIM_UID_SIZE], ip[16];

	walk(pod, pod->root, seconds, rng);
	sim_rng_uid(rng, uid);
	sim_pod_ip(rng, ip);
	if (host_network && host_network->type == API_TRUE)
		snprintf(ip, sizeof(ip), "%s", host->ip);
	sim_set_string(pod, meta, "name", name);
	sim_set_string(pod, meta, "uid", uid);
	replace(pod, spec, "nodeName", host->name);
	replace(pod, status, "podIP", ip);
	replace_ips(pod, api_get(status, "podIPs"), ip, rng);
	replace(pod, status, "hostIP", host->ip);
	replace_ips(pod, api_get(status, "hostIPs"), host->ip, rng);
}
