/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roundtrip FILE: decode one JSON document into a body in a private arena, and print it back. `-` is standard
 * input.
 *
 * Exit 0 printed; 1 it is no JSON document that we keep ("FILE: byte N: reason" on stderr); 2 usage, or FILE
 * cannot be read.
 */
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shm-layout/value.h"
#include "writer/arena/arena.h"
#include "writer/decode/decoder.h"
#include "writer/arena/intern.h"

struct round {
	struct arena arena;
	struct intern *intern;
	int printed;
};

static int
write_out(const char *data, size_t length, void *context)
{
	(void)context;
	return fwrite(data, 1, length, stdout) == length ? 0 : -EIO;
}

static int
print(void *context, const char *type, size_t type_length, struct draft d)
{
	struct round *round = context;
	int r = value_to_json(value_of_object(&round->arena.view, d.ref), write_out, NULL);

	(void)type;
	(void)type_length;
	if (r == 0 && putchar('\n') == EOF)
		r = -EIO;
	draft_discard(&round->arena, round->intern, d);
	round->printed = r == 0;
	return r;
}

/* The whole file. NULL and errno on failure. */
static char *
read_all(const char *path, size_t *ret_length)
{
	FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
	size_t length = 0, capacity = 1 << 16, n;
	char *data = malloc(capacity), *bigger;

	if (!f || !data)
		goto fail;
	while ((n = fread(data + length, 1, capacity - length, f)) > 0) {
		length += n;
		if (length < capacity)
			continue;
		bigger = realloc(data, capacity * 2);
		if (!bigger)
			goto fail;
		data = bigger;
		capacity *= 2;
	}
	if (ferror(f))
		goto fail;
	if (f != stdin)
		fclose(f);
	*ret_length = length;
	return data;
fail:
	n = (size_t)errno;
	free(data);
	if (f && f != stdin)
		fclose(f);
	errno = (int)n;
	return NULL;
}

int
main(int argc, char **argv)
{
	static const struct decoder_events events = {.on_object = print};
	struct round round = {0};
	struct decoder *d = NULL;
	uint64_t offset;
	const char *why;
	size_t length;
	char *data;
	int r;

	if (argc != 2 || (argv[1][0] == '-' && argv[1][1] != '\0')) {
		fprintf(stderr, "usage: roundtrip FILE\n");
		return 2;
	}
	data = read_all(argv[1], &length);
	if (!data) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
		return 2;
	}
	if (sodium_init() < 0 ||
	    arena_create_private(&round.arena, (64u << 20) + 64 * (uint64_t)length) < 0) {
		fprintf(stderr, "roundtrip: no memory for the arena\n");
		free(data);
		return 2;
	}
	round.intern = intern_new(&round.arena);
	if (round.intern)
		d = decoder_new(DECODE_DOCUMENT, &round.arena, round.intern, NULL, &events, &round,
				length + 1);
	r = d ? decoder_feed(d, data, length) : -ENOMEM;
	if (r == 0)
		r = decoder_finish(d);
	if (r == -EBADMSG && !round.printed) {
		why = decoder_error(d, &offset);
		fprintf(stderr, "%s: byte %llu: %s\n", argv[1], (unsigned long long)offset, why);
	} else if (r < 0) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(-r));
	}
	decoder_free(d);
	intern_free(round.intern);
	arena_close(&round.arena);
	free(data);
	return r == 0 ? 0 : r == -EBADMSG ? 1 : 2;
}
