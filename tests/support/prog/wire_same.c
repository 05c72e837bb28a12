/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_same CHUNK [PRINTED [RELEASE]] < RECORDS: lists of objects, each in JSON and in protobuf
 * (tests/schema, objects.go), are decoded from both, fed in pieces of CHUNK bytes, 0: as a whole. Says which
 * objects did not become the same, and how many did. PRINTED gets what the bodies from protobuf are as JSON,
 * a line each. RELEASE (v0.36.6): of the server that wrote them; else the newest.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/value.h"
#include "tests/support/body_fixture.h"
#include "tools/schema/proto_release.h"
#include "tools/schema/proto_schema.h"
#include "writer/decode/value_same.h"

#define ITEMS_MAX 100000u

struct list {
	struct draft items[ITEMS_MAX];
	size_t count;
	char version[32], token[32];
};

static int
keep(void *context, const char *type, size_t type_length, struct draft d)
{
	struct list *l = context;

	(void)type;
	(void)type_length;
	if (l->count == ITEMS_MAX)
		return -E2BIG;
	l->items[l->count++] = d;
	return 0;
}

static int
refuse(void *context, const char *why)
{
	(void)context;
	fprintf(stderr, "%s\n", why);
	return -EBADMSG;
}

static int
end(void *context, const char *version, const char *token, int64_t remaining)
{
	struct list *l = context;

	(void)remaining;
	snprintf(l->version, sizeof(l->version), "%s", version);
	snprintf(l->token, sizeof(l->token), "%s", token);
	return 0;
}

static int
feed(struct decoder *d, const char *bytes, size_t length, size_t chunk)
{
	int r = 0;

	while (r == 0 && length > 0) {
		size_t n = chunk && chunk < length ? chunk : length;
		char *piece = malloc(n); /* so that a sanitizer sees a read beyond it */

		memcpy(piece, bytes, n);
		r = decoder_feed(d, piece, n);
		free(piece);
		bytes += n;
		length -= n;
	}
	return r < 0 ? r : decoder_finish(d);
}

static int
decode(struct body_fixture *fx, struct list *l, const char *bytes, size_t length, bool proto, size_t chunk)
{
	static const struct decoder_events events = {
		.on_object = keep, .on_bad_object = refuse, .on_list_end = end};
	struct decoder *d = decoder_new(DECODE_LIST, fx->arena, fx->intern, fx->schema, &events, l, 0);
	uint64_t offset;
	int r;

	l->count = 0;
	if (proto)
		decoder_use_protobuf(d, proto_schema_builtin());
	r = feed(d, bytes, length, chunk);
	if (r < 0)
		fprintf(stderr, "%s: %s, at byte %lu\n", proto ? "protobuf" : "JSON",
			decoder_error(d, &offset), (unsigned long)(decoder_error(d, &offset), offset));
	decoder_free(d);
	return r;
}

static bool
read_part(struct bytes *b)
{
	uint32_t length;

	b->length = 0;
	if (fread(&length, sizeof(length), 1, stdin) != 1)
		return false;
	if (bytes_room(b, length + 1) < 0 || fread(b->data, 1, length, stdin) != length)
		exit(2);
	b->length = length;
	b->data[length] = '\0';
	return true;
}

int
main(int argc, char **argv)
{
	const char *drops[] = {"apiVersion", "kind"};
	struct body_fixture *fx = body_fixture_new(drops, 2);
	static struct list json, proto;
	struct bytes name = {0}, a = {0}, b = {0};
	size_t chunk = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, same = 0, other = 0;
	const char *minor = argc > 3 ? strchr(argv[3], '.') : NULL;
	FILE *printed = argc > 2 ? fopen(argv[2], "w") : NULL;

	if (argc > 2 && !printed) {
		perror(argv[2]);
		return 2;
	}
	if (minor)
		proto_schema_fit(proto_schema_builtin(), proto_release("1", minor + 1));
	while (read_part(&name) && read_part(&a) && read_part(&b)) {
		int r = decode(fx, &json, (const char *)a.data, a.length, false, chunk);
		int p = decode(fx, &proto, (const char *)b.data, b.length, true, chunk);
		bool alike = r == 0 && p == 0 && json.count == proto.count &&
			     strcmp(json.version, proto.version) == 0 && strcmp(json.token, proto.token) == 0;

		if (!alike)
			printf("%s: %d %d, %zu and %zu items\n", (const char *)name.data, r, p, json.count,
			       proto.count);
		other += !alike;
		for (size_t i = 0; i < json.count && i < proto.count; i++) {
			uint32_t x = json.items[i].ref, y = proto.items[i].ref;

			if (printed)
				fprintf(printed, "%s\n", body_fixture_print_ref(fx, y));
			if (value_same(value_of_object(&fx->arena->view, x),
				       value_of_object(&fx->arena->view, y))) {
				same++;
				continue;
			}
			other++;
			printf("%s, item %zu\n%s\n", (const char *)name.data, i,
			       body_fixture_print_ref(fx, x));
			printf("%s\n", body_fixture_print_ref(fx, y));
		}
		for (size_t i = 0; i < json.count; i++)
			draft_discard(fx->arena, fx->intern, json.items[i]);
		for (size_t i = 0; i < proto.count; i++)
			draft_discard(fx->arena, fx->intern, proto.items[i]);
	}
	if (printed && fclose(printed) != 0) {
		perror(argv[2]);
		return 2;
	}
	printf("%zu the same, %zu not\n", same, other);
	bytes_done(&name);
	bytes_done(&a);
	bytes_done(&b);
	body_fixture_free(fx);
	return other > 0 || same == 0;
}
