/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the error that the Reflector last met from the arena's status document.
 */
#include "reader-lib/events/watch_error.h"
#include "shm-layout/value_field.h"

#include "shm-layout/fnv.h"

static void
take_text(struct value status, const char *field, char *buffer, size_t size)
{
	const char *data;
	size_t length;

	buffer[0] = '\0';
	if (!value_string(value_at_name(status, field), &data, &length))
		return;
	if (length >= size)
		length = size - 1;
	memcpy(buffer, data, length);
	buffer[length] = '\0';
}

static int
hash_piece(const char *data, size_t length, void *context)
{
	uint64_t *hash = context;

	*hash = fnv64(*hash, data, length);
	return 0;
}

int
watch_error_read(const struct snapshot *s, uint32_t ref, struct watch_error *ret)
{
	struct value status = value_of_block(&s->view, ref);
	int64_t code = 0;
	int r;

	*ret = (struct watch_error){.hash = FNV64_BEGIN};
	if (!status.at)
		return snapshot_validate(s, -EBADMSG);
	r = value_to_json(status, hash_piece, &ret->hash);
	value_bool(value_at_name(status, "recovered"), &ret->recovered);
	if (value_int(value_at_name(status, "code"), &code) && code > 0 && code < 1000)
		ret->code = (int)code;
	take_text(status, "reason", ret->reason, sizeof(ret->reason));
	take_text(status, "message", ret->message, sizeof(ret->message));
	return snapshot_validate(s, r);
}
