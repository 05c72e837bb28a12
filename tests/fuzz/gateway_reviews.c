/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the API server's answers to reviews, and as a client's header with a token, field selector and
 * path. No answer without a yes is a yes, and an audit line stays one line.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/informer-gateway/gate/audit_line.h"
#include "tools/informer-gateway/gate/refusal.h"
#include "tools/informer-gateway/access/reviews.h"
#include "tools/serving/api_path.h"
#include "writer/base/message.h"

static void
answers(const char *text, size_t size)
{
	static char own[] = "informer-gateway";
	static char *items[] = {own};
	static const struct gw_texts audiences = {items, 1};
	_cleanup_(message_freep) char *error = NULL;
	_cleanup_(message_freep) char *reason = NULL;
	struct gw_identity *identity = NULL;
	bool allowed = false;
	int r = gw_token_review_answer(text, size, &audiences, &identity, &error);

	must((r == 0) == (identity != NULL));
	must(!identity || (*identity->user && memmem(text, size, "true", 4)));
	gw_identity_unref(identity);
	r = gw_access_review_answer(text, size, &allowed, &reason, &error);
	must(!allowed || (r == 0 && memmem(text, size, "true", 4)));
	must(r < 0 || (reason && !strchr(reason, '\n')));
}

static void
requests(const char *text)
{
	_cleanup_(api_path_done) struct api_path path = {0};
	_cleanup_(message_freep) char *document = NULL;
	_cleanup_(api_status_done) struct api_status status = {0};
	_cleanup_(api_buf_done) struct api_buf line = {0};
	struct gw_identity *identity = gw_identity_new(GW_IDENTITY_TOKEN, text, text);
	struct gw_attributes asked = {.field_selector = text, .label_selector = text};
	struct gw_attributes a;
	char name[GW_NAME_MAX];
	size_t length;
	const char *token = gw_bearer_token(text, &length);

	if (token)
		(void)gw_token_expiry(token, length);
	(void)gw_token_expiry(text, strnlen(text, GW_TOKEN_MAX));
	must(identity);
	if (api_path_parse(text, &path) == API_RESOURCE)
		must(*path.version && *path.plural && (!path.name || *path.name));
	asked.group = path.group;
	asked.version = path.version;
	asked.namespace_ = path.namespace_;
	asked.resource = path.plural;
	asked.name = path.name;
	asked.subresource = path.subresource;
	a = gw_attributes_of(&asked, name);
	must(strcmp(a.name, "..") != 0 || asked.name);
	document = gw_access_review_document(identity, &a);
	gw_refuse_forbidden(&status, &a, text, text);
	must(document && strstr(status.message, "forbidden: User "));
	gw_audit_line(&(struct gw_audit_entry){.listener = text,
					       .source = text,
					       .user = text,
					       .attributes = &a,
					       .rv_asked = text,
					       .decision = "none",
					       .why = text},
		      &line);
	must(memchr(line.data, '\n', line.len) == line.data + line.len - 1);
	gw_identity_unref(identity);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	answers(text, size);
	requests(text);
	free(text);
	return 0;
}
