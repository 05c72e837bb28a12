/* SPDX-License-Identifier: Apache-2.0 */
/* Status: the body of a Kubernetes error; see status.h. */
#include "writer/kube/status.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "writer/base/proto_wire.h"

#define FIRST_LINE_MAX 200

static char *
copy_string_member(const cJSON *object, const char *name)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);

	return strdup(cJSON_IsString(member) ? member->valuestring : "");
}

static int
int_member(const cJSON *object, const char *name, int otherwise)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, name);

	return cJSON_IsNumber(member) && member->valuedouble >= 0 ? member->valueint : otherwise;
}

static int
take_causes(const cJSON *causes, struct kube_status *status)
{
	int n = cJSON_IsArray(causes) ? cJSON_GetArraySize(causes) : 0;
	const cJSON *cause;

	if (n > KUBE_STATUS_MAX_CAUSES)
		n = KUBE_STATUS_MAX_CAUSES;
	if (n == 0)
		return 0;
	status->causes = calloc((size_t)n, sizeof(*status->causes));
	if (!status->causes)
		return -ENOMEM;
	cJSON_ArrayForEach(cause, causes) {
		struct kube_status_cause *c = &status->causes[status->n_causes];

		if (n-- == 0)
			break;
		status->n_causes++;
		c->reason = copy_string_member(cause, "reason");
		c->message = copy_string_member(cause, "message");
		c->field = copy_string_member(cause, "field");
		if (!c->reason || !c->message || !c->field)
			return -ENOMEM;
	}
	return 0;
}

int
kube_status_from_json(const struct cJSON *object, int http_code, struct kube_status *ret)
{
	const cJSON *details = cJSON_GetObjectItemCaseSensitive(object, "details");
	struct kube_status status = {
		.code = int_member(object, "code", http_code),
		.reason = copy_string_member(object, "reason"),
		.message = copy_string_member(object, "message"),
		.continue_token = copy_string_member(cJSON_GetObjectItemCaseSensitive(object, "metadata"),
						     "continue"),
		.retry_after_s = int_member(details, "retryAfterSeconds", 0),
	};

	if (!status.reason || !status.message || !status.continue_token ||
	    take_causes(cJSON_GetObjectItemCaseSensitive(details, "causes"), &status) < 0) {
		kube_status_done(&status);
		return -ENOMEM;
	}
	*ret = status;
	return 0;
}

/* ---- protobuf ---- */

/* {1: ListMeta {3: continue}, 3: message, 4: reason, 5: details {4: cause …, 5: seconds}, 6: code} */

struct field {
	unsigned number;
	char **text;
	int *value;
};

/* Read strings and numbers of a message. Of a repeated field the last one counts. */
static int
take_fields(struct proto_span in, const struct field *fields, size_t count)
{
	struct proto_token t;

	while (in.at < in.end && proto_next(&in.at, in.end, &t))
		for (size_t i = 0; i < count; i++) {
			if (fields[i].number != t.number)
				continue;
			if (fields[i].value && t.wire == PROTO_WIRE_NUMBER && t.value <= INT_MAX)
				*fields[i].value = (int)t.value;
			if (!fields[i].text || t.wire != PROTO_WIRE_BYTES)
				continue;
			free(*fields[i].text);
			*fields[i].text = strndup((const char *)t.bytes.at,
						  (size_t)(t.bytes.end - t.bytes.at));
		}
	for (size_t i = 0; i < count; i++)
		if (fields[i].text && !*fields[i].text && !(*fields[i].text = strdup("")))
			return -ENOMEM;
	return 0;
}

/* {1: reason, 2: message, 3: field} */
static int
take_cause(struct proto_span in, struct kube_status *status)
{
	struct kube_status_cause *c, *more;

	if (status->n_causes == KUBE_STATUS_MAX_CAUSES)
		return 0;
	more = realloc(status->causes, (status->n_causes + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	status->causes = more;
	c = &more[status->n_causes++];
	*c = (struct kube_status_cause){0};
	return take_fields(
		in, (struct field[]){{1, &c->reason, NULL}, {2, &c->message, NULL}, {3, &c->field, NULL}}, 3);
}

/* The inner message with this number; empty: there is none. */
static struct proto_span
inner(struct proto_span in, unsigned number)
{
	struct proto_token t;

	while (in.at < in.end && proto_next(&in.at, in.end, &t))
		if (t.number == number && t.wire == PROTO_WIRE_BYTES)
			return t.bytes;
	return (struct proto_span){0};
}

static int
status_from_protobuf(struct proto_span in, int http_code, struct kube_status *ret)
{
	struct kube_status status = {.code = http_code};
	struct proto_span details = inner(in, 5), rest = details;
	struct proto_token t;
	int r;

	r = take_fields(in,
			(struct field[]){{3, &status.message, NULL},
					 {4, &status.reason, NULL},
					 {6, NULL, &status.code}},
			3);
	if (r == 0)
		r = take_fields(inner(in, 1), (struct field[]){{3, &status.continue_token, NULL}}, 1);
	if (r == 0)
		r = take_fields(details, (struct field[]){{5, NULL, &status.retry_after_s}}, 1);
	while (r == 0 && rest.at < rest.end && proto_next(&rest.at, rest.end, &t))
		if (t.number == 4 && t.wire == PROTO_WIRE_BYTES)
			r = take_cause(t.bytes, &status);
	if (r < 0)
		kube_status_done(&status);
	else
		*ret = status;
	return r;
}

/* True if the body is a Status in protobuf; *ret is then its message. */
static bool
is_protobuf(const uint8_t *body, size_t len, struct proto_span *ret)
{
	struct proto_span all, kind;

	if (len < 4 || memcmp(body, "k8s", 4) != 0)
		return false;
	all = (struct proto_span){body + 4, body + len};
	kind = inner(inner(all, 1), 2);
	*ret = inner(all, 2);
	return kind.end - kind.at == 6 && memcmp(kind.at, "Status", 6) == 0;
}

/* ---- JSON and text ---- */

static char *
first_line(const char *body, size_t len)
{
	size_t n = 0;
	char *line;

	while (len > 0 && strchr(" \t\r\n", *body)) {
		body++;
		len--;
	}
	while (n < len && n < FIRST_LINE_MAX && body[n] != '\n' && body[n] != '\r')
		n++;
	line = strndup(body, n);
	for (char *p = line; p && *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	return line;
}

int
kube_status_parse(const void *body, size_t len, int http_code, struct kube_status *ret)
{
	const cJSON *kind;
	struct proto_span message;
	cJSON *object;
	int r;

	if (is_protobuf(body, len, &message))
		return status_from_protobuf(message, http_code, ret);
	object = len > 0 ? cJSON_ParseWithLength(body, len) : NULL;
	kind = cJSON_GetObjectItemCaseSensitive(object, "kind");
	if (cJSON_IsString(kind) && strcmp(kind->valuestring, "Status") == 0) {
		r = kube_status_from_json(object, http_code, ret);
	} else {
		struct kube_status status = {
			.code = http_code,
			.reason = strdup(""),
			.message = len > 0 ? first_line(body, len) : strdup(""),
			.continue_token = strdup(""),
		};

		r = status.reason && status.message && status.continue_token ? 0 : -ENOMEM;
		if (r < 0)
			kube_status_done(&status);
		else
			*ret = status;
	}
	cJSON_Delete(object);
	return r;
}

void
kube_status_done(struct kube_status *status)
{
	for (size_t i = 0; i < status->n_causes; i++) {
		free(status->causes[i].reason);
		free(status->causes[i].message);
		free(status->causes[i].field);
	}
	free(status->causes);
	free(status->reason);
	free(status->message);
	free(status->continue_token);
	memset(status, 0, sizeof(*status));
}

bool
kube_status_is_expired(const struct kube_status *status)
{
	return status->code == 410 || strcmp(status->reason, "Expired") == 0 ||
	       strcmp(status->reason, "Gone") == 0;
}

bool
kube_status_is_too_large_rv(const struct kube_status *status)
{
	for (size_t i = 0; i < status->n_causes; i++)
		if (strcmp(status->causes[i].reason, "ResourceVersionTooLarge") == 0)
			return true;
	return strcmp(status->reason, "Timeout") == 0 &&
	       strstr(status->message, "Too large resource version");
}

bool
kube_status_is_internal(const struct kube_status *status)
{
	/* meta/v1 has two other reasons with the code 500 */
	return strcmp(status->reason, "InternalError") == 0 ||
	       (status->code == 500 && strcmp(status->reason, "ServerTimeout") != 0 &&
		strcmp(status->reason, "StorageReadError") != 0);
}
