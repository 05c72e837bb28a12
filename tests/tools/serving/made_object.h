/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_TOOLS_SERVING_MADE_OBJECT_H
#define TESTS_TOOLS_SERVING_MADE_OBJECT_H

#include "tests/room.h"
#include "tools/informer-sim/new_object.h"

/* An object made of its JSON: one reference. Fails the test if the text is not an object. */
static inline struct api_object *
made_object(const struct api_resource *resource, const char *text)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	struct api_object *object = NULL;
	struct sim_object_error why;
	struct api_doc_error error;

	assert_int_equal(api_doc_parse(&doc, text, strlen(text), NULL, &error), 0);
	if (sim_object_new(resource, &doc, &object, &why) < 0)
		fail_msg("%s: %s", why.field, why.text);
	return object;
}

#endif
