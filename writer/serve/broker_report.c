/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The broker's part of the report: its readers.
 */
#include "shm-layout/time_ns.h"
#include "writer/serve/broker_internal.h"
#include "writer/serve/fan_out.h"

static bool
add_queue(cJSON *array, unsigned number, const struct reader_queue *queue)
{
	cJSON *o = cJSON_CreateObject();
	struct subscriber_stats stats;

	if (!o || !cJSON_AddItemToArray(array, o)) {
		cJSON_Delete(o);
		return false;
	}
	subscriber_stats(queue->subscriber, &stats);
	return cJSON_AddNumberToObject(o, "number", number) &&
	       cJSON_AddStringToObject(o, "resource", subscriber_resource_name(queue->subscriber)) &&
	       cJSON_AddStringToObject(o, "namespace", stats.ns) &&
	       cJSON_AddStringToObject(o, "name", queue->name) &&
	       cJSON_AddStringToObject(o, "consumer", queue->consumer) &&
	       cJSON_AddNumberToObject(o, "capacity", queue->entries) &&
	       cJSON_AddNumberToObject(o, "unread", (double)stats.unread) &&
	       cJSON_AddNumberToObject(o, "held_bytes", (double)stats.held_bytes) &&
	       cJSON_AddNumberToObject(o, "overflows", (double)stats.overflows) &&
	       cJSON_AddBoolToObject(o, "open", stats.open);
}

static bool
add_queues(cJSON *reader, const struct client *c)
{
	cJSON *array = cJSON_AddArrayToObject(reader, "queues");
	bool ok = array != NULL;

	for (unsigned i = 0; c->queues && ok && i < SLOT_QUEUES; i++)
		if (c->queues[i].subscriber)
			ok = add_queue(array, i, &c->queues[i]);
	return ok;
}

static bool
add_reader(cJSON *array, const struct client *c, uint64_t epoch)
{
	cJSON *o = cJSON_CreateObject();
	struct slot_stat stat;
	double now_ns;

	if (!o || !cJSON_AddItemToArray(array, o)) {
		cJSON_Delete(o);
		return false;
	}
	pins_stat(client_pins(c), c->slot, &stat);
	now_ns = (double)time_ns(CLOCK_BOOTTIME);
	return cJSON_AddNumberToObject(o, "pid", c->peer.pid) &&
	       cJSON_AddNumberToObject(o, "uid", c->peer.uid) &&
	       cJSON_AddStringToObject(o, "name", c->name) &&
	       cJSON_AddNumberToObject(
		       o, "generation", (double)c->broker->options.source.arena->header->generation) &&
	       cJSON_AddNumberToObject(o, "pins", stat.pins) &&
	       cJSON_AddNumberToObject(o, "oldest_epoch", (double)stat.oldest_epoch) &&
	       cJSON_AddNumberToObject(o, "oldest_age_ns",
				       stat.pins ? now_ns - (double)stat.oldest_since_ns : 0) &&
	       cJSON_AddNumberToObject(o, "lag_epochs",
				       stat.pins && epoch > stat.oldest_epoch
					       ? (double)(epoch - stat.oldest_epoch)
					       : 0) &&
	       cJSON_AddBoolToObject(o, "dropped", c->state == CLIENT_DROPPED) &&
	       cJSON_AddBoolToObject(o, "revoked", c->revoked) && add_queues(o, c);
}

cJSON *
broker_readers_json(struct broker *b)
{
	cJSON *array = cJSON_CreateArray();
	uint64_t epoch = broker_epoch(b);
	bool ok = array != NULL;

	pins_horizon(b->options.source.pins, epoch); /* scan the pins anew */
	for (const struct client *c = b->clients; c && ok; c = c->next)
		if (client_has_slot(c))
			ok = add_reader(array, c, epoch);
	if (!ok) {
		cJSON_Delete(array);
		return NULL;
	}
	return array;
}
