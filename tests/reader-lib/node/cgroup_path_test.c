/* SPDX-License-Identifier: Apache-2.0 */
/* What a cgroup's path says: the rows of cgroup_paths.txt. */
#include "reader-lib/node/cgroup_path.h"
#include "tests/room.h"

#define ROWS "tests/reader-lib/node/cgroup_paths.txt"

/* All places of a text, as a row writes them. */
static void
say_places(const char *text, size_t length, char *said, size_t size)
{
	struct cgroup_place place;
	size_t at = 0, used = 0;

	said[0] = '\0';
	while (cgroup_path_next(text, length, &at, &place))
		used += (size_t)snprintf(said + used, size - used, "%s%.*s %.12s", used ? ", " : "",
					 place.uid_length ? (int)place.uid_length : 1,
					 place.uid_length ? place.uid : "-", place.id ? place.id : "-");
}

/* Turn "\n" into a line end, in place. */
static void
unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (from[0] == '\\' && from[1] == 'n') {
			*to++ = '\n';
			from++;
		} else {
			*to++ = *from;
		}
	*to = '\0';
}

/* The text in memory of its own length, so that a sanitizer sees each read behind it. */
static void
check_row(char *text, const char *expected)
{
	char said[1024];
	size_t length;
	char *copy;

	unescape(text);
	length = strlen(text);
	copy = malloc(length + 1);
	assert_non_null(copy);
	memcpy(copy, text, length);
	say_places(copy, length, said, sizeof(said));
	free(copy);
	if (strcmp(said, expected) != 0)
		fail_msg("%s\n\tgives '%s'\n\tnot   '%s'", text, said, expected);
}

TEST_CASE(each_known_path_gives_its_pods_and_containers)
{
	FILE *f = fopen(ROWS, "re");
	char row[2048];
	int rows = 0;

	assert_non_null(f);
	while (fgets(row, sizeof(row), f)) {
		char *bar = strstr(row, " |");

		if (row[0] == '#' || row[0] == '\n')
			continue;
		assert_non_null(bar);
		*bar = '\0';
		bar += strlen(" |");
		bar += *bar == ' ';
		bar[strcspn(bar, "\n")] = '\0';
		check_row(row, bar);
		rows++;
	}
	fclose(f);
	assert_true(rows >= 60);
}

/* A text that is cut anywhere is read to its end and no further. */
TEST_CASE(a_path_that_is_cut_is_safe)
{
	static const char path[] =
		"0::/kubepods.slice/kubepods-pod2d51509a_fcf0_41cc_b535_57cfeeaf73d1.slice/crio-"
		"0853fad78812e955b92d871d8d597d9bc598e34320c9edbfab0a73eacf150145.scope/container";

	for (size_t n = 0; n < sizeof(path); n++) {
		char *copy = malloc(n + 1), said[1024];

		assert_non_null(copy);
		memcpy(copy, path, n);
		say_places(copy, n, said, sizeof(said));
		free(copy);
	}
}
