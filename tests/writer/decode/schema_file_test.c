/* SPDX-License-Identifier: Apache-2.0 */
/* A schema from a file is read, or refused with the file and the line of the error. */
#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/base/log.h"
#include "writer/decode/schema_file.h"

static void
fails(const char *path, int result, const char *reason)
{
	struct proto_schema *s = NULL;
	char *error = NULL, want[4096];

	assert_int_equal(schema_file_read(path, &s, &error), result);
	assert_null(s);
	snprintf(want, sizeof(want), "%s: %s", path, reason);
	assert_string_equal(error, want);
	free(error);
}

#define TEST(name) TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, name)

TEST(a_file_is_read_or_named_in_the_message)
{
	const char *dir = *state, *path;
	struct proto_schema *s = NULL;
	char *error = NULL;

	path = temp_file(dir, "good", "releases mine\nkind v1 A A.v1\nmessage A.v1\n");
	assert_int_equal(schema_file_read(path, &s, &error), 0);
	assert_string_equal(proto_schema_releases(s), "mine");
	proto_schema_free(s);
	fails(temp_file(dir, "bad", "\nkind v1 A A.v1\n"), -EINVAL, "line 2: there is no message A.v1");
	fails(temp_path(dir, "none"), -ENOENT, "No such file or directory");
	path = temp_file(dir, "long", "");
	assert_int_equal(truncate(path, PROTO_SCHEMA_MAX + 1), 0);
	assert_true(schema_file_read(path, &s, &error) < 0);
	free(error);
}

struct chosen {
	char log[4096];    /* the logged messages */
	char releases[64]; /* "": the built-in schema */
	int result;
};

static struct chosen
choose(const char *path, const char *installed)
{
	struct proto_schema *s = NULL;
	char *error = NULL;
	struct chosen c = {0};
	FILE *log = tmpfile();

	assert_non_null(log);
	log_open(LOG_LEVEL_DEBUG, fileno(log));
	c.result = schema_file_choose(path, installed, &s, &error);
	log_open(LOG_LEVEL_INFO, STDERR_FILENO);
	if (s)
		snprintf(c.releases, sizeof(c.releases), "%s", proto_schema_releases(s));
	proto_schema_free(s);
	free(error);
	rewind(log);
	assert_true(fread(c.log, 1, sizeof(c.log) - 1, log) < sizeof(c.log) - 1);
	fclose(log);
	return c;
}

#define SCHEMA(releases) "releases " releases "\nkind v1 A A.v1\nmessage A.v1\n"

TEST(an_installed_schema_is_used_if_newer)
{
	static const struct {
		const char *text;
		bool used;
		const char *said;
	} cases[] = {
		{SCHEMA("v0.99.0"), true, "kubernetes.schema, of Kubernetes 1.99 to 1.99"},
		{SCHEMA("v0.1.2 v0.99.0"), true, "kubernetes.schema, of Kubernetes 1.1 to 1.99"},
		{SCHEMA("v0.1.2 v1.0"), true, "kubernetes.schema, of v0.1.2 v1.0"},
		{SCHEMA("v0.1.99999"), false, "no newer than what is built in"},
		{SCHEMA("mine"), false, "no newer than what is built in"},
		{"kind v1 A A.v1\nmessage A.v1\n", false, "no newer than what is built in"},
		{SCHEMA("v0.99.0") "1 a float\n", false,
		 "kubernetes.schema: line 4: float is no type that is known; what is built in is used"},
		{"", false, "kubernetes.schema: line 0: there is no kind"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *path = temp_file(*state, "share/kubernetes.schema", cases[i].text);
		struct chosen c = choose(NULL, path);

		assert_int_equal(c.result, 0);
		assert_int_equal(c.releases[0] != '\0', cases[i].used);
		assert_non_null(strstr(c.log, cases[i].said));
		assert_non_null(strstr(c.log, cases[i].used ? "protobuf definitions: /"
							    : "protobuf definitions: built in"));
	}
}

/* An installed schema of the built-in releases is not newer. */
TEST(the_same_schema_is_not_newer)
{
	char text[256];
	struct chosen c;

	snprintf(text, sizeof(text), "releases %s\nkind v1 A A.v1\nmessage A.v1\n",
		 proto_schema_releases(proto_schema_builtin()));
	c = choose(NULL, temp_file(*state, "same", text));
	assert_string_equal(c.releases, "");
}

TEST(a_missing_schema_is_not_logged)
{
	const char *places[] = {temp_path(*state, "none"), temp_path(*state, "none/none"), NULL};

	for (size_t i = 0; i < 3; i++) {
		struct chosen c = choose(NULL, places[i]);

		assert_int_equal(c.result, 0);
		assert_string_equal(c.releases, "");
		assert_null(strstr(c.log, "none"));
		assert_non_null(strstr(c.log, "built in"));
	}
}

/* A schema named by the user is used however old it is, and must be valid. */
TEST(a_named_schema_is_used)
{
	const char *installed = temp_file(*state, "new", SCHEMA("v0.99.0"));
	struct chosen c = choose(temp_file(*state, "old", SCHEMA("v0.1.0")), installed);

	assert_int_equal(c.result, 0);
	assert_string_equal(c.releases, "v0.1.0");
	c = choose(temp_file(*state, "old", "kind"), installed);
	assert_int_equal(c.result, -EINVAL);
	c = choose(temp_path(*state, "none"), installed);
	assert_int_equal(c.result, -ENOENT);
}

TEST(the_schema_is_installed_beside_the_program)
{
	char *path = schema_file_installed(), program[4096], *end;
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	assert_true(n > 0);
	program[n] = '\0';
	assert_non_null(path);
	end = strstr(path, "/share/informer/kubernetes.schema");
	assert_non_null(end);
	*end = '\0';
	assert_memory_equal(program, path, strlen(path));
	end = program + strlen(path); /* "/FOLDER/PROGRAM" */
	assert_non_null(strchr(end + 1, '/'));
	assert_ptr_equal(strchr(end + 1, '/'), strrchr(program, '/'));
	free(path);
}
