/* SPDX-License-Identifier: Apache-2.0 */
/* Translates protobuf bodies: a table for each message, in JSON's order of fields, and one walk. */
#include "tools/informer-sim/protobuf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "tools/informer-sim/rng.h"
#include "tools/informer-sim/time_print.h"

#define TIME_MAX 253402300799u /* the end of the year 9999 */

/* ---- the wire ---------------------------------------------------------------- */

struct proto_slice {
	const uint8_t *at, *end;
};

struct proto_record {
	uint64_t number;
	unsigned wire;            /* 0 varint, 1 eight bytes, 2 bytes, 5 four bytes */
	uint64_t value;           /* of a varint */
	struct proto_slice bytes; /* of other wire types */
};

static bool
take_varint(struct proto_slice *s, uint64_t *ret)
{
	*ret = 0;
	for (unsigned shift = 0; shift < 64 && s->at < s->end; shift += 7) {
		uint8_t byte = *s->at++;

		*ret |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

/* Take one record. 1; 0 at the end; -EPROTO. */
static int
take_record(struct proto_slice *s, struct proto_record *ret)
{
	uint64_t tag, length = 0;

	if (s->at == s->end)
		return 0;
	if (!take_varint(s, &tag))
		return -EPROTO;
	*ret = (struct proto_record){.number = tag >> 3, .wire = tag & 7};
	if (ret->wire == 0)
		return take_varint(s, &ret->value) ? 1 : -EPROTO;
	if (ret->wire == 2 ? !take_varint(s, &length) : ret->wire != 1 && ret->wire != 5)
		return -EPROTO;
	length = ret->wire == 1 ? 8 : ret->wire == 5 ? 4 : length;
	if (length > (size_t)(s->end - s->at))
		return -EPROTO;
	ret->bytes = (struct proto_slice){s->at, s->at + length};
	s->at += length;
	return 1;
}

static bool
is_empty(const struct proto_record *r)
{
	return r->wire == 0 ? r->value == 0 : r->wire == 2 && r->bytes.at == r->bytes.end;
}

/* ---- the messages -------------------------------------------------------------- */

/* OPTIONAL fields are pointers in Go: 0 and false are kept. */
enum type {
	STRING,
	STRINGS,
	INT,
	OPTIONAL_INT,
	BOOL,
	OPTIONAL_BOOL,
	TIME,
	INT_OR_STRING,
	MESSAGE,
	MESSAGES,
	TEXTS /* map */,
	BLOBS /* map */,
	QUANTITIES /* map */,
	IGNORED,
};

struct proto_field {
	unsigned number;
	const char *name;
	enum type type;
	const struct proto_message *message;
};

struct proto_message {
	const char *name;
	const struct proto_field *fields; /* number 0 ends them */
};

#define MESSAGE_OF(name, ...)                                                                                \
	static const struct proto_field name##_fields[] = {__VA_ARGS__, {0}};                                \
	static const struct proto_message name = {#name, name##_fields}

MESSAGE_OF(OwnerReference, {5, "apiVersion", STRING, NULL}, {1, "kind", STRING, NULL},
	   {3, "name", STRING, NULL}, {4, "uid", STRING, NULL}, {6, "controller", OPTIONAL_BOOL, NULL},
	   {7, "blockOwnerDeletion", OPTIONAL_BOOL, NULL});
MESSAGE_OF(ObjectMeta, {1, "name", STRING, NULL}, {2, "generateName", STRING, NULL},
	   {3, "namespace", STRING, NULL}, {5, "uid", STRING, NULL}, {6, "resourceVersion", STRING, NULL},
	   {7, "generation", INT, NULL}, {8, "creationTimestamp", TIME, NULL},
	   {9, "deletionTimestamp", TIME, NULL}, {10, "deletionGracePeriodSeconds", OPTIONAL_INT, NULL},
	   {11, "labels", TEXTS, NULL}, {12, "annotations", TEXTS, NULL},
	   {13, "ownerReferences", MESSAGES, &OwnerReference}, {14, "finalizers", STRINGS, NULL},
	   {4, "selfLink", IGNORED, NULL}, {17, "managedFields", IGNORED, NULL});
MESSAGE_OF(LabelSelectorRequirement, {1, "key", STRING, NULL}, {2, "operator", STRING, NULL},
	   {3, "values", STRINGS, NULL});
MESSAGE_OF(LabelSelector, {1, "matchLabels", TEXTS, NULL},
	   {2, "matchExpressions", MESSAGES, &LabelSelectorRequirement});
MESSAGE_OF(LocalObjectReference, {1, "name", STRING, NULL});
MESSAGE_OF(ObjectReference, {1, "kind", STRING, NULL}, {2, "namespace", STRING, NULL},
	   {3, "name", STRING, NULL}, {4, "uid", STRING, NULL}, {5, "apiVersion", STRING, NULL},
	   {6, "resourceVersion", STRING, NULL}, {7, "fieldPath", STRING, NULL});

MESSAGE_OF(NamespaceSpec, {1, "finalizers", STRINGS, NULL});
MESSAGE_OF(Namespace, {1, "metadata", MESSAGE, &ObjectMeta}, {2, "spec", MESSAGE, &NamespaceSpec},
	   {3, "status", IGNORED, NULL});
MESSAGE_OF(ConfigMap, {1, "metadata", MESSAGE, &ObjectMeta}, {4, "immutable", OPTIONAL_BOOL, NULL},
	   {2, "data", TEXTS, NULL}, {3, "binaryData", BLOBS, NULL});
MESSAGE_OF(Secret, {1, "metadata", MESSAGE, &ObjectMeta}, {5, "immutable", OPTIONAL_BOOL, NULL},
	   {2, "data", BLOBS, NULL}, {4, "stringData", TEXTS, NULL}, {3, "type", STRING, NULL});
MESSAGE_OF(ServiceAccount, {1, "metadata", MESSAGE, &ObjectMeta}, {2, "secrets", MESSAGES, &ObjectReference},
	   {3, "imagePullSecrets", MESSAGES, &LocalObjectReference},
	   {4, "automountServiceAccountToken", OPTIONAL_BOOL, NULL});
MESSAGE_OF(ServicePort, {1, "name", STRING, NULL}, {2, "protocol", STRING, NULL},
	   {6, "appProtocol", STRING, NULL}, {3, "port", INT, NULL}, {4, "targetPort", INT_OR_STRING, NULL},
	   {5, "nodePort", INT, NULL});
MESSAGE_OF(ServiceSpec, {1, "ports", MESSAGES, &ServicePort}, {2, "selector", TEXTS, NULL},
	   {3, "clusterIP", STRING, NULL}, {18, "clusterIPs", STRINGS, NULL}, {4, "type", STRING, NULL},
	   {5, "externalIPs", STRINGS, NULL}, {7, "sessionAffinity", STRING, NULL},
	   {8, "loadBalancerIP", STRING, NULL}, {10, "externalName", STRING, NULL},
	   {11, "externalTrafficPolicy", STRING, NULL}, {12, "healthCheckNodePort", INT, NULL},
	   {13, "publishNotReadyAddresses", BOOL, NULL}, {19, "ipFamilies", STRINGS, NULL},
	   {17, "ipFamilyPolicy", STRING, NULL});
MESSAGE_OF(Service, {1, "metadata", MESSAGE, &ObjectMeta}, {2, "spec", MESSAGE, &ServiceSpec},
	   {3, "status", IGNORED, NULL});

MESSAGE_OF(ContainerPort, {1, "name", STRING, NULL}, {2, "hostPort", INT, NULL},
	   {3, "containerPort", INT, NULL}, {4, "protocol", STRING, NULL}, {5, "hostIP", STRING, NULL});
MESSAGE_OF(EnvVar, {1, "name", STRING, NULL}, {2, "value", STRING, NULL});
MESSAGE_OF(ResourceRequirements, {1, "limits", QUANTITIES, NULL}, {2, "requests", QUANTITIES, NULL});
MESSAGE_OF(Container, {1, "name", STRING, NULL}, {2, "image", STRING, NULL}, {3, "command", STRINGS, NULL},
	   {4, "args", STRINGS, NULL}, {5, "workingDir", STRING, NULL},
	   {6, "ports", MESSAGES, &ContainerPort}, {7, "env", MESSAGES, &EnvVar},
	   {8, "resources", MESSAGE, &ResourceRequirements}, {13, "terminationMessagePath", STRING, NULL},
	   {20, "terminationMessagePolicy", STRING, NULL}, {14, "imagePullPolicy", STRING, NULL},
	   {16, "stdin", BOOL, NULL}, {17, "stdinOnce", BOOL, NULL}, {18, "tty", BOOL, NULL});
MESSAGE_OF(PodSpec, {20, "initContainers", MESSAGES, &Container}, {2, "containers", MESSAGES, &Container},
	   {3, "restartPolicy", STRING, NULL}, {4, "terminationGracePeriodSeconds", OPTIONAL_INT, NULL},
	   {5, "activeDeadlineSeconds", OPTIONAL_INT, NULL}, {6, "dnsPolicy", STRING, NULL},
	   {7, "nodeSelector", TEXTS, NULL}, {8, "serviceAccountName", STRING, NULL},
	   {9, "serviceAccount", STRING, NULL}, {10, "nodeName", STRING, NULL},
	   {11, "hostNetwork", BOOL, NULL}, {12, "hostPID", BOOL, NULL}, {13, "hostIPC", BOOL, NULL},
	   {15, "imagePullSecrets", MESSAGES, &LocalObjectReference}, {16, "hostname", STRING, NULL},
	   {17, "subdomain", STRING, NULL}, {19, "schedulerName", STRING, NULL},
	   {24, "priorityClassName", STRING, NULL},
	   {21, "automountServiceAccountToken", OPTIONAL_BOOL, NULL});
MESSAGE_OF(PodTemplateSpec, {1, "metadata", MESSAGE, &ObjectMeta}, {2, "spec", MESSAGE, &PodSpec});
MESSAGE_OF(Pod, {1, "metadata", MESSAGE, &ObjectMeta}, {2, "spec", MESSAGE, &PodSpec},
	   {3, "status", IGNORED, NULL});

MESSAGE_OF(RollingUpdateDeployment, {1, "maxUnavailable", INT_OR_STRING, NULL},
	   {2, "maxSurge", INT_OR_STRING, NULL});
MESSAGE_OF(DeploymentStrategy, {1, "type", STRING, NULL},
	   {2, "rollingUpdate", MESSAGE, &RollingUpdateDeployment});
MESSAGE_OF(DeploymentSpec, {1, "replicas", OPTIONAL_INT, NULL}, {2, "selector", MESSAGE, &LabelSelector},
	   {3, "template", MESSAGE, &PodTemplateSpec}, {4, "strategy", MESSAGE, &DeploymentStrategy},
	   {5, "minReadySeconds", INT, NULL}, {6, "revisionHistoryLimit", OPTIONAL_INT, NULL},
	   {7, "paused", BOOL, NULL}, {9, "progressDeadlineSeconds", OPTIONAL_INT, NULL});
MESSAGE_OF(Deployment, {1, "metadata", MESSAGE, &ObjectMeta}, {2, "spec", MESSAGE, &DeploymentSpec},
	   {3, "status", IGNORED, NULL});
MESSAGE_OF(JobSpec, {1, "parallelism", OPTIONAL_INT, NULL}, {2, "completions", OPTIONAL_INT, NULL},
	   {3, "activeDeadlineSeconds", OPTIONAL_INT, NULL}, {7, "backoffLimit", OPTIONAL_INT, NULL},
	   {4, "selector", MESSAGE, &LabelSelector}, {5, "manualSelector", OPTIONAL_BOOL, NULL},
	   {6, "template", MESSAGE, &PodTemplateSpec}, {8, "ttlSecondsAfterFinished", OPTIONAL_INT, NULL},
	   {9, "completionMode", STRING, NULL}, {10, "suspend", OPTIONAL_BOOL, NULL});
MESSAGE_OF(Job, {1, "metadata", MESSAGE, &ObjectMeta}, {2, "spec", MESSAGE, &JobSpec},
	   {3, "status", IGNORED, NULL});
MESSAGE_OF(JobTemplateSpec, {1, "metadata", MESSAGE, &ObjectMeta}, {2, "spec", MESSAGE, &JobSpec});
MESSAGE_OF(CronJobSpec, {1, "schedule", STRING, NULL}, {8, "timeZone", STRING, NULL},
	   {2, "startingDeadlineSeconds", OPTIONAL_INT, NULL}, {3, "concurrencyPolicy", STRING, NULL},
	   {4, "suspend", OPTIONAL_BOOL, NULL}, {5, "jobTemplate", MESSAGE, &JobTemplateSpec},
	   {6, "successfulJobsHistoryLimit", OPTIONAL_INT, NULL},
	   {7, "failedJobsHistoryLimit", OPTIONAL_INT, NULL});
MESSAGE_OF(CronJob, {1, "metadata", MESSAGE, &ObjectMeta}, {2, "spec", MESSAGE, &CronJobSpec},
	   {3, "status", IGNORED, NULL});

static const struct {
	const char *api_version;
	const struct proto_message *message;
} kinds[] = {
	{"v1", &Namespace},       {"v1", &ConfigMap}, {"v1", &Secret},
	{"v1", &ServiceAccount},  {"v1", &Service},   {"v1", &Pod},
	{"apps/v1", &Deployment}, {"batch/v1", &Job}, {"batch/v1", &CronJob},
};

/* ---- the walk -------------------------------------------------------------------- */

struct proto_walk {
	struct api_buf *json;
	char *why;
};

static int
malformed(const struct proto_walk *w)
{
	snprintf(w->why, 200, "the body is no protobuf message of Kubernetes");
	return -EPROTO;
}

static void
put_string(const struct proto_walk *w, struct proto_slice text)
{
	api_buf_json(w->json, text.at ? (const char *)text.at : "", (size_t)(text.end - text.at));
}

static void
put_base64(const struct proto_walk *w, struct proto_slice bytes)
{
	size_t length = (size_t)(bytes.end - bytes.at),
	       size = sodium_base64_encoded_len(length, sodium_base64_VARIANT_ORIGINAL);
	_cleanup_(api_freep) char *text = api_alloc(size);

	sodium_bin2base64(text, size, bytes.at, length, sodium_base64_VARIANT_ORIGINAL);
	api_buf_json_str(w->json, text);
}

/* Find the last record of a number, which counts in protobuf. 1; 0: none; -EPROTO. */
static int
find(struct proto_slice s, unsigned number, struct proto_record *ret)
{
	struct proto_record r;
	int found = 0, more;

	while ((more = take_record(&s, &r)) > 0) {
		if (r.number == number) {
			*ret = r;
			found = 1;
		}
	}
	return more < 0 ? more : found;
}

static int
put_time(const struct proto_walk *w, struct proto_slice time)
{
	char text[SIM_TIME_SIZE];
	struct proto_record seconds = {0};

	if (find(time, 1, &seconds) < 0 || seconds.value > TIME_MAX)
		return malformed(w);
	sim_time_print((int64_t)seconds.value, text);
	api_buf_json_str(w->json, text);
	return 0;
}

static int
put_int_or_string(const struct proto_walk *w, struct proto_slice value)
{
	struct proto_record type = {0}, number = {0}, text = {0};

	if (find(value, 1, &type) < 0 || find(value, 2, &number) < 0 || find(value, 3, &text) < 0)
		return malformed(w);
	if (type.value == 1)
		put_string(w, text.bytes);
	else
		api_buf_printf(w->json, "%" PRId32, (int32_t)number.value);
	return 0;
}

/* Write an entry of a map: key 1, value 2. */
static int
put_entry(const struct proto_walk *w, enum type type, struct proto_slice entry)
{
	struct proto_record key = {0}, value = {0}, quantity = {0};

	if (find(entry, 1, &key) < 0 || find(entry, 2, &value) < 0)
		return malformed(w);
	put_string(w, key.bytes);
	api_buf_puts(w->json, ":");
	if (type == QUANTITIES && find(value.bytes, 1, &quantity) < 0)
		return malformed(w);
	if (type == BLOBS)
		put_base64(w, value.bytes);
	else
		put_string(w, type == QUANTITIES ? quantity.bytes : value.bytes);
	return 0;
}

static int put_message(const struct proto_walk *w, const struct proto_message *message, struct proto_slice s,
		       const char *before);

static int
put_value(const struct proto_walk *w, const struct proto_field *field, const struct proto_record *r)
{
	switch (field->type) {
	case STRING:
	case STRINGS:
		put_string(w, r->bytes);
		return 0;
	case INT:
	case OPTIONAL_INT:
		api_buf_printf(w->json, "%" PRId64, (int64_t)r->value);
		return 0;
	case BOOL:
	case OPTIONAL_BOOL:
		api_buf_puts(w->json, r->value ? "true" : "false");
		return 0;
	case TIME:
		return put_time(w, r->bytes);
	case INT_OR_STRING:
		return put_int_or_string(w, r->bytes);
	case MESSAGE:
	case MESSAGES:
		return put_message(w, field->message, r->bytes, "");
	default:
		return put_entry(w, field->type, r->bytes);
	}
}

static bool
is_number(enum type type)
{
	return type == INT || type == OPTIONAL_INT || type == BOOL || type == OPTIONAL_BOOL;
}

/* Whether Go omits the field from JSON because it is empty. */
static bool
is_left_out(enum type type, const struct proto_record *r)
{
	return (type == STRING || type == INT || type == BOOL || type == TIME) && is_empty(r);
}

/* Write all records of one field as one member. *count: members written so far. */
static int
put_field(const struct proto_walk *w, const struct proto_field *field, struct proto_slice s, unsigned *count)
{
	bool array = field->type == STRINGS || field->type == MESSAGES;
	bool object = field->type == TEXTS || field->type == BLOBS || field->type == QUANTITIES;
	struct proto_record r;
	unsigned n = 0;
	int more, result;

	while ((more = take_record(&s, &r)) > 0) {
		if (r.number != field->number || is_left_out(field->type, &r))
			continue;
		if (r.wire != (is_number(field->type) ? 0 : 2))
			return malformed(w);
		/* typed clients never repeat a single field */
		if (n > 0 && !array && !object)
			return malformed(w);
		if (n == 0) {
			api_buf_puts(w->json, (*count)++ ? "," : "");
			api_buf_json_str(w->json, field->name);
			api_buf_puts(w->json, array ? ":[" : object ? ":{" : ":");
		}
		api_buf_puts(w->json, n++ ? "," : "");
		result = put_value(w, field, &r);
		if (result < 0)
			return result;
	}
	if (n > 0)
		api_buf_puts(w->json, array ? "]" : object ? "}" : "");
	return more < 0 ? malformed(w) : 0;
}

/* Refuse unknown fields that are not empty. */
static int
check_fields(const struct proto_walk *w, const struct proto_message *message, struct proto_slice s)
{
	struct proto_record r;
	int more;

	while ((more = take_record(&s, &r)) > 0) {
		const struct proto_field *field = message->fields;

		while (field->number && field->number != r.number)
			field++;
		if (field->number || is_empty(&r))
			continue;
		snprintf(w->why, 200,
			 "informer-sim does not read field %" PRIu64
			 " of a protobuf %s: send it as JSON (kubectl create -f)",
			 r.number, message->name);
		return -EOPNOTSUPP;
	}
	return more < 0 ? malformed(w) : 0;
}

static int
put_message(const struct proto_walk *w, const struct proto_message *message, struct proto_slice s,
	    const char *before)
{
	unsigned count = *before != '\0';
	int r = check_fields(w, message, s);

	api_buf_printf(w->json, "{%s", before);
	for (const struct proto_field *field = message->fields; field->number && r == 0; field++)
		if (field->type != IGNORED)
			r = put_field(w, field, s, &count);
	api_buf_puts(w->json, "}");
	return r;
}

static bool
is_text(const struct proto_record *r, const char *text)
{
	return r->wire == 2 && (size_t)(r->bytes.end - r->bytes.at) == strlen(text) &&
	       memcmp(r->bytes.at, text, strlen(text)) == 0;
}

int
sim_protobuf_json(const char *data, size_t len, struct api_buf *json, char ret_why[200])
{
	static const char magic[4] = "k8s"; /* with the NUL */
	struct proto_walk w = {json, ret_why};
	struct proto_slice envelope = {(const uint8_t *)data, (const uint8_t *)data + len};
	struct proto_record type = {0}, raw = {0}, version = {0}, kind = {0};
	char before[128];

	if (len < sizeof(magic) || memcmp(data, magic, sizeof(magic)) != 0)
		return malformed(&w);
	envelope.at += sizeof(magic);
	if (find(envelope, 1, &type) <= 0 || find(envelope, 2, &raw) < 0 ||
	    find(type.bytes, 1, &version) <= 0 || find(type.bytes, 2, &kind) <= 0 || kind.wire != 2)
		return malformed(&w);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (!is_text(&version, kinds[i].api_version) || !is_text(&kind, kinds[i].message->name))
			continue;
		snprintf(before, sizeof(before), "\"kind\":\"%s\",\"apiVersion\":\"%s\"",
			 kinds[i].message->name, kinds[i].api_version);
		return put_message(&w, kinds[i].message, raw.bytes, before);
	}
	snprintf(ret_why, 200,
		 "informer-sim does not read a protobuf %.*s: send it as JSON (kubectl create -f)",
		 kind.bytes.end - kind.bytes.at < 60 ? (int)(kind.bytes.end - kind.bytes.at) : 60,
		 (const char *)kind.bytes.at);
	return -EOPNOTSUPP;
}
