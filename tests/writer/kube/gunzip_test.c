/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gzip of one member or of several, cut at each byte, unpacks to the same; what is cut off is seen, and what
 * is damaged is an error or something else, never a crash.
 */
#include "tests/room.h"
#include "tests/support/gzip_member.h"
#include "writer/base/growing.h"
#include "writer/kube/gunzip.h"

/* What these bytes unpack to is appended. 0 or the error. */
static int
feed(struct gunzip *g, struct bytes *to, const uint8_t *data, size_t length)
{
	uint8_t *copy = malloc(length ? length : 1); /* so that a sanitizer sees what is read behind it */
	const uint8_t *p = copy, *piece;
	size_t n;
	int r;

	assert_non_null(copy);
	if (length)
		memcpy(copy, data, length);
	while ((r = gunzip_next(g, &p, &length, &piece, &n)) > 0) {
		assert_true(n > 0 && n <= GUNZIP_PIECE_MAX);
		assert_int_equal(bytes_append(to, piece, n), 0);
	}
	if (r == 0)
		assert_int_equal(length, 0);
	free(copy);
	return r;
}

TEST_CASE(several_members_cut_at_each_byte)
{
	static const char *const parts[] = {"first, first, first ", "", "second", "the third one\n"};
	struct bytes in = {0}, want = {0}, out = {0};
	size_t ends[4];

	for (size_t i = 0; i < 4; i++) {
		gzip_member(&in, parts[i], strlen(parts[i]));
		ends[i] = in.length;
		assert_int_equal(bytes_append(&want, parts[i], strlen(parts[i])), 0);
	}
	for (size_t cut = 0; cut <= in.length; cut++) {
		struct gunzip *g = gunzip_new();
		size_t there = 0;

		assert_non_null(g);
		out.length = 0;
		assert_int_equal(feed(g, &out, in.data, cut), 0);
		for (size_t i = 0; i < 4; i++)
			there += cut >= ends[i] ? strlen(parts[i]) : 0;
		assert_true(out.length >= there &&
			    memcmp(out.data ? out.data : (const uint8_t *)"", want.data, out.length) == 0);
		assert_int_equal(gunzip_is_whole(g), cut == 0 || cut == ends[0] || cut == ends[1] ||
							     cut == ends[2] || cut == ends[3]);
		assert_int_equal(feed(g, &out, in.data + cut, in.length - cut), 0);
		assert_true(gunzip_is_whole(g));
		assert_int_equal(out.length, want.length);
		assert_memory_equal(out.data, want.data, want.length);
		gunzip_free(g);
	}
	bytes_done(&in);
	bytes_done(&want);
	bytes_done(&out);
}

TEST_CASE(what_is_no_gzip_or_damaged_is_an_error)
{
	static const char text[] = "some text, some more of that text, and its end";
	struct bytes in = {0}, out = {0};
	unsigned errors = 0;

	gzip_member(&in, text, sizeof(text));
	for (size_t bit = 0; bit < in.length * 8; bit++) {
		struct gunzip *g = gunzip_new();
		int r;

		in.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		out.length = 0;
		r = feed(g, &out, in.data, in.length);
		assert_true(r == 0 || r == -EPROTO);
		errors += r < 0 || !gunzip_is_whole(g);
		/* (the header has bits that say nothing) */
		if (r == 0 && gunzip_is_whole(g)) {
			assert_int_equal(out.length, sizeof(text));
			assert_memory_equal(out.data, text, sizeof(text));
		}
		in.data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		gunzip_free(g);
	}
	assert_true(errors > in.length * 8 - 80);
	for (unsigned i = 0; i < 2; i++) {
		struct gunzip *g = gunzip_new();

		out.length = 0;
		assert_int_equal(feed(g, &out, in.data, i ? in.length : 0), 0);
		assert_int_equal(feed(g, &out, (const uint8_t *)"{\"kind\":\"PodList\"}", 18), -EPROTO);
		gunzip_free(g);
	}
	bytes_done(&in);
	bytes_done(&out);
}
