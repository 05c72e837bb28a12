/* SPDX-License-Identifier: Apache-2.0 */
/* ListOptions: checks, codes and messages in upstream's order. */
#include "tools/serving/query.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void
api_query_done(struct api_query *query)
{
	api_selector_free(query->labels);
	api_selector_free(query->fields);
	*query = (struct api_query){0};
}

bool
api_query_matches(const struct api_query *query, const struct api_object *object)
{
	return api_selector_matches(query->labels, object) && api_selector_matches(query->fields, object);
}

/* 0, -EINVAL (no digits), -ERANGE */
static int
parse_unsigned(const char *text, uint64_t *ret)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	if (*end)
		return -EINVAL;
	return errno ? -ERANGE : 0;
}

static int
parse_int(struct api_request *request, const char *name, int64_t *ret)
{
	const char *text = api_request_query(request, name);
	uint64_t value;
	bool negative;
	int r;

	*ret = 0;
	if (!text || !text[0])
		return 0;
	negative = text[0] == '-';
	r = parse_unsigned(text + (negative || text[0] == '+'), &value);
	if (r < 0 || value > INT64_MAX)
		return api_status_set(&request->status, 400, "BadRequest",
				      "strconv.ParseInt: parsing \"%s\": %s", text,
				      r == -EINVAL ? "invalid syntax" : "value out of range");
	*ret = negative ? -(int64_t)value : (int64_t)value;
	return 0;
}

static void
complain(struct api_request *request, const char *field, const char *cause, const char *why)
{
	struct api_status *status = &request->status;

	if (status->code == 0) {
		api_status_set(status, 422, "Invalid", "ListOptions.meta.k8s.io \"\" is invalid: %s: %s",
			       field, why);
	} else {
		/* from the second cause on, the message is a list */
		struct api_buf buf = {0};
		const char *first = strstr(status->message, "invalid: ") + 9;

		api_buf_printf(&buf, "ListOptions.meta.k8s.io \"\" is invalid: [%s, %s: %s]", first, field,
			       why);
		free(status->message);
		status->message = api_buf_take(&buf);
	}
	status->group = "meta.k8s.io";
	status->kind = "ListOptions";
	api_status_cause(status, cause, field, "%s", why);
}

static void
forbid(struct api_request *request, const char *field, const char *why)
{
	_cleanup_(api_buf_done) struct api_buf text = {0};

	api_buf_printf(&text, "Forbidden: %s", why);
	complain(request, field, "FieldValueForbidden", text.data);
}

static void
unsupported_match(struct api_request *request, const char *match, const char *supported)
{
	_cleanup_(api_buf_done) struct api_buf text = {0};

	api_buf_printf(&text, "Unsupported value: \"%s\": supported values: %s", match, supported);
	complain(request, "resourceVersionMatch", "FieldValueNotSupported", text.data);
}

static int
check_match(struct api_request *request, const struct api_query *query, bool initial_given)
{
	const char *match = api_request_query(request, "resourceVersionMatch");
	const char *rv = api_request_query(request, "resourceVersion");
	bool match_given = match && match[0];

	if (query->watch && match_given && !initial_given) {
		forbid(request, "resourceVersionMatch",
		       "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
	} else if (query->watch && initial_given && !request->watch_list) {
		forbid(request, "sendInitialEvents",
		       "sendInitialEvents is forbidden for watch unless the WatchList feature gate is "
		       "enabled");
	} else if (query->watch && initial_given && (!match_given || strcmp(match, "NotOlderThan") != 0)) {
		forbid(request, "resourceVersionMatch",
		       "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
		if (match_given)
			unsupported_match(request, match, "\"NotOlderThan\"");
	} else if (!query->watch) {
		if (match_given && !query->rv_given)
			forbid(request, "resourceVersionMatch",
			       "resourceVersionMatch is forbidden unless resourceVersion is provided");
		if (match_given && query->next_token)
			forbid(request, "resourceVersionMatch",
			       "resourceVersionMatch is forbidden when continue is provided");
		else if (match_given && query->rv_given && query->match == API_MATCH_EXACT &&
			 !strcmp(rv, "0"))
			forbid(request, "resourceVersionMatch",
			       "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
		if (initial_given)
			forbid(request, "sendInitialEvents", "sendInitialEvents is forbidden for list");
	}
	return request->status.code ? -EINVAL : 0;
}

static int
parse_rv(struct api_request *request, struct api_query *query)
{
	const char *text = api_request_query(request, "resourceVersion");
	const char *why;
	int r;

	if (!query->rv_given)
		return 0;
	r = parse_unsigned(text, &query->rv);
	if (r == 0)
		return 0;
	why = r == -EINVAL ? "invalid syntax" : "value out of range";
	if (query->watch || request->name)
		return api_status_set(
			&request->status, 500, "",
			"resourceVersion: Invalid value: \"%s\": strconv.ParseUint: parsing \"%s\": %s", text,
			text, why);
	return api_status_set(
		&request->status, 400, "BadRequest",
		"invalid resource version: resourceVersion: Invalid value: \"%s\": strconv.ParseUint: "
		"parsing \"%s\": %s",
		text, text, why);
}

static int
parse(struct api_request *request, struct api_query *query)
{
	_cleanup_(api_freep) char *error = NULL;
	bool initial = api_request_has(request, "sendInitialEvents");
	const char *text;
	int64_t limit, timeout;

	query->watch = api_request_flag(request, "watch");
	query->bookmarks = api_request_flag(request, "allowWatchBookmarks");
	query->initial = api_request_flag(request, "sendInitialEvents");
	text = api_request_query(request, "resourceVersion");
	query->rv_given = text && text[0];
	text = api_request_query(request, "continue");
	query->next_token = text && text[0] ? text : NULL;
	if (parse_int(request, "limit", &limit) < 0 || parse_int(request, "timeoutSeconds", &timeout) < 0)
		return -EINVAL;
	query->limit = limit > 0 ? (uint64_t)limit : 0;
	query->timeout = timeout > 0 ? (unsigned)(timeout > 1000000 ? 1000000 : timeout) : 0;

	text = api_request_query(request, "labelSelector");
	if (text && api_labels_parse(text, &query->labels, &error) < 0)
		return api_status_set(&request->status, 400, "BadRequest", "%s", error);
	text = api_request_query(request, "fieldSelector");
	if (text && api_fields_parse(request->resource, text, &query->fields, &error) < 0)
		return api_status_set(&request->status, 400, "BadRequest", "%s", error);

	text = api_request_query(request, "resourceVersionMatch");
	if (text && !strcmp(text, "Exact"))
		query->match = API_MATCH_EXACT;
	else if (text && !strcmp(text, "NotOlderThan"))
		query->match = API_MATCH_NOT_OLDER;
	if (check_match(request, query, initial) < 0)
		return -EINVAL;
	if (text && text[0] && query->match == API_MATCH_UNSET) {
		unsupported_match(request, text, "\"Exact\", \"NotOlderThan\", \"\"");
		return -EINVAL;
	}
	if (parse_rv(request, query) < 0)
		return -EINVAL;
	/* a watch with RV 0 or none, and without sendInitialEvents, gets them too (SetListOptionsDefaults) */
	if (query->watch && query->rv == 0 && !initial && request->watch_list)
		query->initial = true;
	query->from_now = query->watch && query->rv == 0 && initial && !query->initial;
	return 0;
}

int
api_query_parse(struct api_request *request, struct api_query *ret_query)
{
	struct api_query query = {0};
	int r = parse(request, &query);

	if (r < 0)
		api_query_done(&query);
	*ret_query = query;
	return r;
}

uint64_t
api_query_least_rv(const struct api_query *query)
{
	if (query->watch)
		return query->initial ? query->rv : 0;
	return query->next_token ? 0 : query->rv;
}
