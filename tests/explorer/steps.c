/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of explored programs, by the public functions of both sides.
 */
#include "tests/explorer/steps.h"

#include <stdio.h>

#include "tests/explorer/explorer.h"

void
steps_put(struct pair *p, const char *name, unsigned version)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "{\"metadata\":{\"name\":\"%s\",\"namespace\":\"default\",\"uid\":\"u\","
		 "\"resourceVersion\":\"%u\"}}",
		 name, version);
	explorer_claim(store_fixture_put(p->writer->store, text) == 0, "not put");
	explorer_claim(store_commit(p->store) == 0, "no commit");
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
steps_read(struct pair *p)
{
	struct informer_snapshot snap;
	struct informer_moment moment;
	int r = informer_begin(p->inf, &snap);

	explorer_claim(r == 0, "begin says %s", informer_error_name(r));
	r = informer_snapshot_moment(&snap, &moment);
	explorer_claim(r == 0, "moment says %s", informer_error_name(r));
	explorer_claim(informer_resource_count(&snap) == 1, "no resource");
	informer_end(&snap);
}
