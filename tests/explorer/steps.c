/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of explored programs, by the public functions of both sides.
 */
#include "tests/explorer/steps.h"

#include <poll.h>
#include <stdio.h>

#include "tests/explorer/explorer.h"

#define PODS 17u /* a resource with fewer objects has no shortcut */

void
steps_put(const char *name, unsigned version)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"u\","
		 "\"resourceVersion\":\"%u\"}}",
		 name, version);
	explorer_claim(store_fixture_put(pair.writer->store, text) == 0, "not put");
	explorer_claim(store_commit(pair.store) == 0, "no commit");
}

void
steps_replace(const char *name, unsigned version)
{
	steps_put(name, version);
	store_reclaim(pair.store);
}

void
steps_put_many(void)
{
	char name[16];

	for (unsigned i = 0; i < PODS; i++) {
		snprintf(name, sizeof(name), "pod-%u", i);
		steps_put(name, 1);
	}
}

void
steps_commit(const char *version)
{
	store_set_version(pair.store, pair.pods, version, 3);
	explorer_claim(store_commit(pair.store) == 0, "no commit");
	store_reclaim(pair.store);
}

static void (*state_told)(const struct informer_object *o);

static void
on_add(void *context, const struct informer_object *o, bool initial)
{
	(void)context;
	(void)initial;
	state_told(o);
}

static void
on_update(void *context, const struct informer_object *old, const struct informer_object *o)
{
	(void)context;
	(void)old;
	state_told(o);
}

void
steps_listen(struct informer_handler_options *options, void (*on_state)(const struct informer_object *o))
{
	state_told = on_state;
	options->size = sizeof(*options);
	options->resource = "pods";
	options->on_add = on_add;
	options->on_update = on_update;
}

void
steps_hear(const unsigned *told, unsigned last)
{
	while (*told < last) {
		struct pollfd fd = {.fd = informer_fd(pair.inf), .events = POLLIN};

		if (!informer_dispatch(pair.inf) && *told < last)
			poll(&fd, 1, -1);
	}
}

unsigned
steps_version(const struct informer_object *object)
{
	const char *text;
	size_t length;
	int r = informer_object_resource_version(object, &text, &length);

	explorer_claim(r == 0 && length == 1, "no version");
	return (unsigned)(text[0] - '0');
}

void
steps_read(void)
{
	struct informer_snapshot snap;
	struct informer_moment moment;
	int r = informer_begin(pair.inf, &snap);

	explorer_claim(r == 0, "begin says %s", informer_error_name(r));
	r = informer_snapshot_moment(&snap, &moment);
	explorer_claim(r == 0, "moment says %s", informer_error_name(r));
	explorer_claim(informer_resource_count(&snap) == 1, "no resource");
	informer_end(&snap);
}
