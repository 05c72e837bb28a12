/* SPDX-License-Identifier: Apache-2.0 */
/* Status: the body of a Kubernetes error; see status.h. */
#include "writer/kube/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#define FIRST_LINE_MAX 200

static char *
string_member(const cJSON *object, const char *name)
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
		c->reason = string_member(cause, "reason");
		c->message = string_member(cause, "message");
		c->field = string_member(cause, "field");
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
		.reason = string_member(object, "reason"),
		.message = string_member(object, "message"),
		.continue_token = string_member(cJSON_GetObjectItemCaseSensitive(object, "metadata"),
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
	cJSON *object;
	int r;

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
	/* meta/v1's reasons, but for the one of internal errors */
	static const char *const others[] = {
		"Unauthorized",
		"Forbidden",
		"NotFound",
		"AlreadyExists",
		"Conflict",
		"Gone",
		"Invalid",
		"ServerTimeout",
		"StorageReadError",
		"Timeout",
		"TooManyRequests",
		"BadRequest",
		"MethodNotAllowed",
		"NotAcceptable",
		"RequestEntityTooLarge",
		"UnsupportedMediaType",
		"Expired",
		"ServiceUnavailable",
	};

	if (strcmp(status->reason, "InternalError") == 0)
		return true;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(status->reason, others[i]) == 0)
			return false;
	return status->code == 500;
}
