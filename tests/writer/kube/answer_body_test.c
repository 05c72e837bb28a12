/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An answer's bytes, fed as libcurl feeds them: each once, unpacked where the header that counts says so,
 * none while they are paused, and none after one that was not wanted.
 */
#include "tests/room.h"
#include "tests/support/gzip_member.h"
#include "writer/base/growing.h"
#include "writer/kube/answer_body.h"

#define PLAIN_BYTES 200000ul /* some pieces of gunzip's, of few bytes of gzip */

struct taker {
	struct answer_body body;
	struct bytes got;
	unsigned calls;
	unsigned pause_every; /* so many calls; 0: never */
	unsigned refuses_at;  /* the call that does; 0: none */
	int refusal;
};

static int
take(void *ctx, const void *data, size_t length)
{
	struct taker *t = ctx;

	assert_false(t->body.paused);
	assert_true(length > 0);
	assert_int_equal(bytes_append(&t->got, data, length), 0);
	t->calls++;
	t->body.paused = t->pause_every > 0 && t->calls % t->pause_every == 0;
	return t->calls == t->refuses_at ? t->refusal : 0;
}

static void
begin(struct taker *t, const char *const *lines)
{
	t->body = (struct answer_body){.give = take, .ctx = t, .asks_gzip = t->body.asks_gzip};
	for (; *lines; lines++)
		answer_body_line(&t->body, *lines, strlen(*lines));
	assert_int_equal(answer_body_begin(&t->body), 0);
}

static void
done(struct taker *t)
{
	answer_body_done(&t->body);
	bytes_done(&t->got);
	memset(t, 0, sizeof(*t));
}

/* As libcurl does: what waits is fed again when it waits no more, perhaps with more behind it. */
static int
feed_all(struct taker *t, const uint8_t *data, size_t length, size_t chunk)
{
	size_t from = 0, n = 0;
	unsigned turns = 0;

	while (from < length) {
		uint8_t *copy;
		int r;

		n = n + chunk < length - from ? n + chunk : length - from;
		copy = malloc(n ? n : 1); /* so that a sanitizer sees what is read behind it */
		assert_non_null(copy);
		memcpy(copy, data + from, n);
		r = answer_body_feed(&t->body, copy, n);
		free(copy);
		if (r < 0)
			return r;
		if (r == ANSWER_BODY_WAITS)
			assert_true(t->body.paused);
		if (r == ANSWER_BODY_WAITS && turns++ % 2) { /* still paused: nothing comes */
			unsigned calls = t->calls;

			assert_int_equal(answer_body_feed(&t->body, data + from, n), ANSWER_BODY_WAITS);
			assert_int_equal(t->calls, calls);
		}
		if (r == 0) {
			from += n;
			n = 0;
		}
		t->body.paused = false;
	}
	return 0;
}

/* ---- the header ---- */

static const struct {
	const char *lines[8];
	bool asks, packed;
} headers[] = {
	{{"HTTP/2 200 \r\n", "content-encoding: gzip\r\n", "\r\n"}, true, true},
	{{"HTTP/1.1 200 OK\r\n", "Content-Encoding:gzip\r\n", "\r\n"}, true, true},
	{{"HTTP/1.1 200 OK\r\n", "Content-Encoding: gzip\r\n", "\r\n"}, false, false},
	{{"HTTP/1.1 200 OK\r\n", "Content-Encoding: identity\r\n", "\r\n"}, true, false},
	{{"HTTP/1.1 200 OK\r\n", "X-Content-Encoding: gzip\r\n", "\r\n"}, true, false},
	{{"HTTP/1.1 200 OK\r\n", "Content-Encoding:", "Content-Type: gzip\r\n", "\r\n"}, true, false},
	/* of several headers the last */
	{{"HTTP/1.1 103 Early Hints\r\n", "Content-Encoding: gzip\r\n", "\r\n", "HTTP/1.1 200 OK\r\n",
	  "\r\n"},
	 true,
	 false},
	{{"HTTP/1.1 401 Unauthorized\r\n", "\r\n", "HTTP/2 200 \r\n", "content-encoding: gzip\r\n", "\r\n"},
	 true,
	 true},
};

TEST_CASE(the_header_says_whether_it_is_packed)
{
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++) {
		struct taker t = {.body.asks_gzip = headers[i].asks};

		begin(&t, headers[i].lines);
		assert_int_equal(t.body.gunzip != NULL, headers[i].packed);
		done(&t);
	}
}

/* ---- the bytes ---- */

static const char *const gzip_header[] = {"HTTP/2 200 \r\n", "content-encoding: gzip\r\n", "\r\n", NULL};
static const char *const plain_header[] = {"HTTP/2 200 \r\n", "\r\n", NULL};

static void
make_text(struct bytes *to)
{
	for (size_t i = 0; i < PLAIN_BYTES; i++) {
		uint8_t b = (uint8_t)("0123456789"[i / 100 % 10]);

		assert_int_equal(bytes_append(to, &b, 1), 0);
	}
}

TEST_CASE(all_come_once_however_often_they_wait)
{
	static const unsigned pauses[] = {0, 1, 2, 3};
	struct bytes text = {0}, packed = {0};

	make_text(&text);
	gzip_member(&packed, text.data, PLAIN_BYTES / 2);
	gzip_member(&packed, text.data + PLAIN_BYTES / 2, PLAIN_BYTES / 2);
	for (unsigned gzip = 0; gzip < 2; gzip++)
		for (size_t i = 0; i < sizeof(pauses) / sizeof(*pauses); i++)
			for (size_t chunk = gzip ? 1 : 999; chunk < 2 * PLAIN_BYTES; chunk = chunk * 5 + 1) {
				struct taker t = {.body.asks_gzip = true, .pause_every = pauses[i]};
				const struct bytes *in = gzip ? &packed : &text;

				begin(&t, gzip ? gzip_header : plain_header);
				assert_int_equal(feed_all(&t, in->data, in->length, chunk), 0);
				assert_int_equal(t.got.length, PLAIN_BYTES);
				assert_memory_equal(t.got.data, text.data, PLAIN_BYTES);
				assert_false(answer_body_is_cut(&t.body));
				done(&t);
			}
	bytes_done(&text);
	bytes_done(&packed);
}

/* With its own number, also where gzip has the same one for damage; and it is the last. */
TEST_CASE(what_nobody_wants_is_the_last)
{
	struct bytes text = {0}, packed = {0};

	make_text(&text);
	gzip_member(&packed, text.data, PLAIN_BYTES);
	for (unsigned gzip = 0; gzip < 2; gzip++) {
		struct taker t = {.body.asks_gzip = true, .refuses_at = 2, .refusal = -EPROTO};
		const struct bytes *in = gzip ? &packed : &text;

		begin(&t, gzip ? gzip_header : plain_header);
		assert_int_equal(feed_all(&t, in->data, in->length, gzip ? in->length : 999), -EPROTO);
		assert_int_equal(t.calls, 2);
		assert_false(t.body.damaged);
		done(&t);
	}
	bytes_done(&text);
	bytes_done(&packed);
}

TEST_CASE(gzip_that_is_damaged_or_cut_is_seen)
{
	struct bytes text = {0}, packed = {0};
	struct taker t = {.body.asks_gzip = true};

	make_text(&text);
	gzip_member(&packed, text.data, PLAIN_BYTES);
	begin(&t, gzip_header);
	assert_int_equal(feed_all(&t, packed.data, packed.length - 1, 7), 0);
	assert_true(answer_body_is_cut(&t.body));
	assert_false(t.body.damaged);
	done(&t);

	packed.data[packed.length - 8] ^= 1; /* of its sum */
	t.body.asks_gzip = true;
	begin(&t, gzip_header);
	assert_int_equal(feed_all(&t, packed.data, packed.length, 7), -EPROTO);
	assert_true(t.body.damaged);
	done(&t);

	/* what is not packed is never cut here: libcurl sees to that */
	begin(&t, plain_header);
	assert_int_equal(feed_all(&t, text.data, 5, 5), 0);
	assert_false(answer_body_is_cut(&t.body));
	done(&t);
	bytes_done(&text);
	bytes_done(&packed);
}
