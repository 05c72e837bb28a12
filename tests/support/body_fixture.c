/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes JSON texts into values of a private arena, and prints values again for comparison. */
#include "tests/support/body_fixture.h"

#include "tests/room.h"
#include "writer/decode/decoder_schema.h"

static int
keep(void *context, const char *type, size_t type_length, struct draft d)
{
	struct body_fixture *fx = context;

	(void)type;
	(void)type_length;
	fx->ref = d.ref;
	return 0;
}

static const struct decoder_events events = {.on_object = keep};

struct body_fixture *
body_fixture_new(const char *const *drops, size_t drop_count)
{
	struct body_fixture *fx = calloc(1, sizeof(*fx));

	if (!fx)
		abort();
	fx->arena = arena_fixture_new();
	fx->intern = intern_new(fx->arena);
	fx->schema = decoder_schema_new(drops, drop_count, NULL);
	fx->document = decoder_new(DECODE_DOCUMENT, fx->arena, fx->intern, fx->schema, &events, fx, 0);
	if (!fx->document)
		abort();
	return fx;
}

static void
forget(struct body_fixture *fx)
{
	if (fx->ref)
		draft_discard(fx->arena, fx->intern, (struct draft){fx->ref});
	fx->ref = 0;
}

void
body_fixture_free(struct body_fixture *fx)
{
	if (!fx)
		return;
	forget(fx);
	decoder_free(fx->document);
	decoder_schema_free(fx->schema);
	intern_free(fx->intern);
	arena_fixture_free(fx->arena);
	bytes_done(&fx->printed);
	free(fx);
}

FIXTURE_SET_UP(body_fixture_set_up, body_fixture_new(NULL, 0))
FIXTURE_TEAR_DOWN(body_fixture_tear_down, body_fixture_free)

int
body_fixture_decode(struct body_fixture *fx, const char *text, size_t length, size_t chunk)
{
	int r = 0;

	forget(fx);
	fx->error[0] = '\0';
	decoder_reset(fx->document);
	chunk = chunk ? chunk : length;
	for (size_t at = 0; at < length && r == 0; at += chunk) {
		/* a separate copy, so that a sanitizer sees each byte read beyond it */
		size_t n = length - at < chunk ? length - at : chunk;
		char *piece = malloc(n);

		assert_non_null(piece);
		memcpy(piece, text + at, n);
		r = decoder_feed(fx->document, piece, n);
		free(piece);
	}
	if (r == 0)
		r = decoder_finish(fx->document);
	if (r < 0)
		snprintf(fx->error, sizeof(fx->error), "%s", decoder_error(fx->document, &fx->offset));
	return r;
}

struct value
body_fixture_value(struct body_fixture *fx, const char *text)
{
	if (body_fixture_decode(fx, text, strlen(text), 0) != 0)
		fail_msg("%s: byte %llu: %s", text, (unsigned long long)fx->offset, fx->error);
	return value_of_object(&fx->arena->view, fx->ref);
}

static int
collect(const char *data, size_t length, void *context)
{
	return bytes_append(context, data, length);
}

const char *
body_fixture_print(struct body_fixture *fx, struct value v)
{
	fx->printed.length = 0;
	assert_int_equal(value_to_json(v, collect, &fx->printed), 0);
	assert_int_equal(bytes_append(&fx->printed, "", 1), 0);
	return (const char *)fx->printed.data;
}

const char *
body_fixture_print_ref(struct body_fixture *fx, uint32_t ref)
{
	return body_fixture_print(fx, value_of_object(&fx->arena->view, ref));
}

uint32_t
body_fixture_block(struct body_fixture *fx, uint16_t n)
{
	uint8_t payload[4] = {TAG_INT1 + 2, (uint8_t)n, (uint8_t)(n >> 8), 1};
	uint32_t ref = 0;
	bool known;

	assert_int_equal(intern_get(fx->intern, BLOCK_VALUE, payload, sizeof(payload), &ref, &known), 0);
	return ref;
}

void
bytes_say(struct bytes *to, const char *format, ...)
{
	char *text;
	int length;
	va_list args;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	assert_true(length >= 0);
	assert_int_equal(bytes_append(to, text, (size_t)length + 1), 0);
	to->length--;
	free(text);
}

void
assert_nothing_left(struct body_fixture *fx)
{
	forget(fx);
	decoder_free(fx->document);
	fx->document = NULL;
	decoder_schema_free(fx->schema);
	fx->schema = NULL;
	assert_int_equal(intern_count(fx->intern), 0);
}
