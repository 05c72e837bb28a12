/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the syntax of a resource's LISTs and WATCHes (wire.h).
 */
#include "writer/reflect/wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "writer/base/log.h"

#define UNREADABLE_MAX 2u

void
wire_init(struct wire *w, struct clock *clock, enum wire_choice choice, const struct proto_schema *schema,
	  const char *api_version, const char *kind, bool metadata_only)
{
	*w = (struct wire){.schema = schema, .clock = clock, .choice = choice};
	if (metadata_only) {
		api_version = "meta.k8s.io/v1";
		kind = "PartialObjectMetadata";
	}
	w->kind = w->schema && api_version && kind
			  ? proto_schema_kind(w->schema, api_version, strlen(api_version), kind, strlen(kind))
			  : NULL;
}

void
wire_ask_again(struct wire *w)
{
	w->json_until_ms = 0;
	w->warned = false;
}

bool
wire_wants_protobuf(const struct wire *w)
{
	return w->kind && w->choice != WIRE_JSON && proto_schema_is_sure(w->schema, w->kind) &&
	       w->clock->now_ms(w->clock) >= w->json_until_ms;
}

bool
wire_comes_in_protobuf(const struct wire *w)
{
	return wire_wants_protobuf(w) && w->syntax != WIRE_IS_JSON;
}

void
wire_begin(struct wire *w, const char *name, const char *content_type, struct decoder *decoder)
{
	bool protobuf = w->schema && strcmp(content_type, TRANSPORT_PROTOBUF_TYPE) == 0;

	w->syntax = protobuf ? WIRE_IS_PROTOBUF : WIRE_IS_JSON;
	decoder_use_protobuf(decoder, protobuf ? w->schema : NULL);
	if (w->choice != WIRE_PROTOBUF || protobuf || w->warned || w->json_until_ms > 0)
		return;
	w->warned = true;
	log_warning("%s: it comes in JSON, though protobuf is configured: %s", name,
		    !w->kind                                   ? "its kind is not in the schema"
		    : proto_schema_is_sure(w->schema, w->kind) ? "the server answers so"
							       : "the server's release is not known");
}

static void
give_up(struct wire *w, const char *name, const char *what, const char *detail)
{
	char why[sizeof(w->why)];
	bool again;

	snprintf(why, sizeof(why), "%s%s", what, detail);
	again = strcmp(why, w->why) == 0;
	memcpy(w->why, why, sizeof(why));
	w->json_until_ms = w->clock->now_ms(w->clock) + WIRE_AGAIN_MS;
	w->unreadable = 0;
	w->fallbacks++;
	if (again)
		log_info("%s: still asking for JSON: %s", name, why);
	else
		log_warning("%s: asking for JSON from now on: %s", name, why);
}

bool
wire_falls_back(struct wire *w, const char *name, int status, int result, const struct decoder *decoder)
{
	bool protobuf = status >= 200 && status < 300 && w->syntax == WIRE_IS_PROTOBUF;
	bool unreadable = protobuf && result == -EBADMSG;
	const char *error = decoder_error(decoder, NULL); /* "": the decoder did not fail */

	if (unreadable)
		w->unreadable++;
	else if (protobuf && result == 0)
		w->unreadable = 0;
	if (!wire_wants_protobuf(w))
		return false;
	if (status == 406)
		give_up(w, name, "the server has no protobuf of it (406)", "");
	else if (protobuf && result == -EPROTO && *error)
		give_up(w, name, "", error);
	else if (unreadable && w->unreadable >= UNREADABLE_MAX)
		give_up(w, name, "protobuf cannot be read: ", error);
	else
		return false;
	return true;
}

const char *
wire_syntax_name(const struct wire *w)
{
	static const char *const names[] = {
		[WIRE_IS_UNKNOWN] = "", [WIRE_IS_JSON] = "json", [WIRE_IS_PROTOBUF] = "protobuf"};

	return names[w->syntax];
}
