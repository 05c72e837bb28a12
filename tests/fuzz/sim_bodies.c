/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a body for informer-sim: a document, a patch of each kind (the document, a zero byte, the
 * patch), a script of faults.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/informer-sim/doc_edit.h"
#include "tools/serving/doc.h"
#include "tools/informer-sim/fault.h"
#include "tools/informer-sim/merge.h"

enum kind { MERGE, STRATEGIC, JSON, KINDS };

/* The result can be written, and read again as the same. */
static void
check(const struct api_doc *doc)
{
	_cleanup_(api_buf_done) struct api_buf text = {0};
	_cleanup_(api_doc_done) struct api_doc again = {0};
	struct api_doc_error error;

	if (!doc->root)
		return;
	api_print(doc->root, &text, NULL, NULL);
	must(api_doc_parse(&again, text.data, text.len, NULL, &error) == 0 &&
	     sim_equal(doc->root, again.root));
}

static void
patch_by(enum kind kind, const char *text, size_t length, const char *with, size_t with_length)
{
	_cleanup_(api_doc_done) struct api_doc doc = {0};
	_cleanup_(api_doc_done) struct api_doc patch = {0};
	_cleanup_(api_freep) char *why = NULL;
	struct api_doc_error error;
	int r = 0;

	if (api_doc_parse(&doc, text, length, NULL, &error) < 0 ||
	    api_doc_parse(&patch, with, with_length, NULL, &error) < 0)
		return;
	if (kind == MERGE)
		doc.root = sim_merge(&doc, doc.root, patch.root);
	else if (kind == JSON)
		r = sim_patch_json(&doc, patch.root, &why);
	else if (patch.root->type == API_OBJECT && doc.root->type == API_OBJECT)
		r = sim_merge_strategic(&doc, doc.root, patch.root, &why);
	must(r == 0 || (why && *why));
	if (r == 0)
		check(&doc);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *why = NULL;
	struct sim_faults *faults = sim_faults_new();
	_cleanup_(api_buf_done) struct api_buf rules = {0};
	size_t first;

	first = strlen(text);
	for (enum kind k = 0; k < KINDS; k++)
		patch_by(k, text, first, first < size ? text + first + 1 : text,
			 first < size ? size - first - 1 : first);
	if (sim_faults_add(faults, text, &why) < 0)
		must(why && *why);
	else
		sim_faults_print(faults, &rules);
	sim_faults_free(faults);
	free(why);
	free(text);
	return 0;
}
