/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an API server answers to a review, as JSON.
 */
#ifndef TOOLS_INFORMER_GATEWAY_ACCESS_REVIEW_DOCUMENT_H
#define TOOLS_INFORMER_GATEWAY_ACCESS_REVIEW_DOCUMENT_H

#include <stddef.h>

#include <cjson/cJSON.h>

#define GW_REVIEW_ANSWER_MAX 262144 /* bytes of an answer; longer ones are none */

/*
 * An answer's tree, for cJSON_Delete(); NULL: it is no JSON object of this kind with a status. One with a NUL
 * in a text is none either: the text would end there for us, and be another's name.
 */
cJSON *gw_review_parse(const char *body, size_t length, const char *kind);

/* A member's text; "" where it has none. */
const char *gw_review_text(const cJSON *object, const char *name);

#endif
