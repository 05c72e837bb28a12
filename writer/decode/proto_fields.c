/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over a message's bytes. A field is found by its number. Its whole tag is compared, which checks
 * its wire type too.
 */
#include "writer/decode/proto_fields.h"

#include <errno.h>
#include <stdbool.h>

#include "writer/decode/proto_value.h"

/* The error for the field at `at`: malformed, or not known in m. */
static __attribute__((noinline)) int
wrong_field(const struct proto_message *m, const uint8_t *at, const uint8_t *end,
	    struct proto_fields_end *ret_end)
{
	struct proto_token t;

	ret_end->at = at;
	if (!proto_next(&at, end, &t) || proto_field_index(m, t.number) < m->count)
		return -EBADMSG;
	ret_end->number = t.number;
	return -EPROTO;
}

static bool
is_zero_time(struct proto_span in)
{
	struct proto_small time;
	uint64_t number;

	return in.at == in.end ||
	       ((proto_time_read(in, &time) || proto_small_read(PROTO_TIME, in, &time, &number) == 0) &&
		proto_time_is_zero(&time, false));
}

int
proto_fields_find(const struct proto_message *m, struct proto_span in,
		  struct proto_found found[static PROTO_FIELDS_MAX], uint64_t *ret_fields,
		  struct proto_fields_end *ret_end)
{
	uint64_t fields = 0;

	while (in.at < in.end) {
		const uint8_t *at = in.at, *content;
		const struct proto_field *f;
		uint64_t tag, value, bit;
		unsigned i;

		if (!proto_head(&in.at, in.end, &tag, &value))
			return wrong_field(m, at, in.end, ret_end);
		i = proto_field_index(m, tag >> 3);
		f = &m->fields[i];
		if (i == m->count || f->tag != tag)
			return wrong_field(m, at, in.end, ret_end);
		content = in.at;
		if ((tag & 7) == PROTO_WIRE_BYTES) {
			if (value > (uint64_t)(in.end - content))
				return wrong_field(m, at, in.end, ret_end);
			in.at += value;
		}
		bit = (uint64_t)1 << i;
		if (value == 0 && f->flags & PROTO_DROP_ZERO &&
		    !(fields & bit)) /* value is the number, or the length */
			continue;
		if (f->flags & PROTO_REPEATED) {
			if (!(fields & bit))
				found[i].at = at;
			found[i].value = (uint64_t)(in.at - found[i].at);
		} else {
			if (fields & bit) /* other decoders merge them; no server writes two */
				return wrong_field(m, at, in.end, ret_end);
			if (f->flags & PROTO_OMIT_ZERO && is_zero_time((struct proto_span){content, in.at}))
				continue;
			found[i] = (struct proto_found){content, value};
		}
		fields |= bit;
	}
	for (uint64_t absent = m->absent & ~fields; absent; absent &= absent - 1)
		found[__builtin_ctzll(absent)] = (struct proto_found){0};
	*ret_fields = fields | m->absent;
	return 0;
}
