/* SPDX-License-Identifier: Apache-2.0 */
/* Lines, selectors, hashes and random numbers of the model tests of events. */
#include "tests/support/event_model.h"

#include <stdio.h>
#include <string.h>

#include "shm-layout/fnv.h"

const char *const event_model_namespaces[EVENT_MODEL_NAMESPACES] = {"ns0", "ns1", "ns2", "ns3"};
const char *const event_model_labels[EVENT_MODEL_LABELS] = {"", "app=web", "app in (web,db),tier!=cache",
							    "tier,!hidden"};
const char *const event_model_fields[EVENT_MODEL_FIELDS] = {"", "status.phase=Running",
							    "spec.nodeName=node-1,status.phase!=Failed",
							    "metadata.annotations.note!=odd"};

const char *
event_model_text(const cJSON *object, const char *outer, const char *field)
{
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(object, outer), field));

	return text ? text : "";
}

static const char *
of_metadata(const cJSON *pod, const char *map, const char *name)
{
	return event_model_text(cJSON_GetObjectItemCaseSensitive(pod, "metadata"), map, name);
}

unsigned
event_model_label_bits(const cJSON *pod)
{
	const char *app = of_metadata(pod, "labels", "app"), *tier = of_metadata(pod, "labels", "tier"),
		   *hidden = of_metadata(pod, "labels", "hidden");
	bool web = strcmp(app, "web") == 0;
	/* present, with any value */
	bool has_tier = cJSON_HasObjectItem(
		cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(pod, "metadata"), "labels"),
		"tier");

	return 1u | (web ? 2u : 0) |
	       ((web || strcmp(app, "db") == 0) && strcmp(tier, "cache") != 0 ? 4u : 0) |
	       (has_tier && !*hidden ? 8u : 0);
}

unsigned
event_model_field_bits(const cJSON *pod)
{
	const char *phase = event_model_text(pod, "status", "phase"),
		   *node = event_model_text(pod, "spec", "nodeName"),
		   *note = of_metadata(pod, "annotations", "note");

	return 1u | (strcmp(phase, "Running") == 0 ? 2u : 0) |
	       (strcmp(node, "node-1") == 0 && strcmp(phase, "Failed") != 0 ? 4u : 0) |
	       (strcmp(note, "odd") != 0 ? 8u : 0);
}

static uint64_t
mix(uint64_t hash, const char *text)
{
	hash = fnv64(hash, text, strlen(text));
	hash ^= hash >> 29;
	return hash * 0xbf58476d1ce4e5b9ull;
}

static uint64_t
value_hash(const cJSON *v, unsigned depth)
{
	uint64_t hash = FNV64_BEGIN ^ (uint64_t)(v->type & 0xff);
	char number[40];

	if (cJSON_IsString(v) && v->valuestring)
		return mix(hash, v->valuestring);
	if (cJSON_IsNumber(v)) {
		snprintf(number, sizeof(number), "%.17g", v->valuedouble);
		return mix(hash, number);
	}
	for (const cJSON *child = v->child; child; child = child->next) {
		if (depth == 0 && child->string &&
		    (strcmp(child->string, "kind") == 0 || strcmp(child->string, "apiVersion") == 0))
			continue;
		if (depth == 1 && child->string && strcmp(child->string, "managedFields") == 0)
			continue;
		if (cJSON_IsObject(v) && child->string)
			hash += mix(value_hash(child, depth + 1), child->string); /* in any order */
		else
			hash = (hash ^ value_hash(child, depth + 1)) * 0x100000001b3ull;
	}
	return hash;
}

uint64_t
event_model_hash(const cJSON *object)
{
	return value_hash(object, 0);
}

bool
event_model_read(const char *line, struct event_model_state *ret)
{
	unsigned long long rv, hash;

	if (sscanf(line, "%llu %c %127s %63s %llx %u %u", &rv, &ret->type, ret->key, ret->uid, &hash,
		   &ret->labels, &ret->fields) != 7)
		return false;
	ret->rv = rv;
	ret->hash = hash;
	return true;
}

unsigned
event_model_draw(struct event_model_random *random, unsigned below)
{
	uint64_t z = random->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (unsigned)((z ^ z >> 31) % below);
}
