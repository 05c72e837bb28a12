/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any text as a label selector and as a field selector: libinformer and informer-sim accept the same ones,
 * with the same selection.
 */
#include "tests/fuzz/fuzz.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/support/broker_fixture.h"
#include "tools/informer-sim/new_object.h"
#include "tools/serving/stored_object.h"
#include "tools/serving/selector.h"

static const char pod[] =
	"{\"metadata\":{\"name\":\"p\",\"namespace\":\"d\",\"labels\":{\"app\":\"web\",\"tier\":\"\","
	"\"weight\":\"7\",\"in\":\"notin\"}},"
	"\"spec\":{\"nodeName\":\"n1\",\"hostNetwork\":true},\"status\":{\"phase\":\"Running\"}}";

static struct informer *inf;
static struct informer_snapshot snapshot;
static struct informer_object theirs;
static struct api_registry registry;
static const struct api_resource *pods;
static struct api_object *ours;

static void
set_up(void)
{
	struct broker_fixture *fx = broker_fixture_new();
	struct informer_resource *resource;
	struct sim_object_error object_error;
	struct api_doc_error error;
	struct api_doc doc = {0};

	broker_fixture_start(fx);
	broker_fixture_put(fx, (const char *const[]){pod, NULL});
	inf = broker_fixture_attach(fx, 0);
	must(informer_resource_open(inf, "pods", &resource) == 0 && informer_begin(inf, &snapshot) == 0 &&
	     informer_get_z(&snapshot, resource, "d", "p", &theirs) == 0);
	api_registry_init(&registry);
	pods = api_registry_find(&registry, "", "v1", "pods");
	must(api_doc_parse(&doc, pod, strlen(pod), NULL, &error) == 0 &&
	     sim_object_new(pods, &doc, &ours, &object_error) == 0);
	api_doc_done(&doc);
}

static void
labels(const char *text)
{
	struct informer_label_selector *reader = NULL;
	struct api_selector *sim = NULL;
	char *error = NULL;
	size_t offset = 0;
	int r = informer_label_selector_compile(inf, text, strlen(text), &reader, &offset),
	    s = api_labels_parse(text, &sim, &error);

	must(r == 0 || offset <= strlen(text));
	must(s == 0 || (error && *error));
	if (r == 0 && s == 0)
		must(informer_label_selector_matches(reader, &theirs) ==
		     (int)api_selector_matches(sim, ours));
	informer_label_selector_free(reader);
	api_selector_free(sim);
	free(error);
}

static void
fields(const char *text)
{
	struct informer_field_selector *reader = NULL;
	struct api_selector *sim = NULL;
	char *error = NULL;
	int r = informer_field_selector_compile(inf, text, strlen(text), &reader),
	    s = api_fields_parse(pods, text, &sim, &error);

	must(s == 0 || (error && *error));
	if (r == 0 && informer_field_selector_matches(reader, &theirs) >= 0 && s == 0)
		must(informer_field_selector_matches(reader, &theirs) ==
		     (int)api_selector_matches(sim, ours));
	informer_field_selector_free(reader);
	api_selector_free(sim);
	free(error);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	if (!inf)
		set_up();
	labels(text);
	fields(text);
	free(text);
	return 0;
}
