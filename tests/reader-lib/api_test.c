/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library as a program links it: exported symbols, the languages of its headers, its error texts. Uses
 * $B/libinformer.so; the build directory is this program's.
 */
#include <limits.h>

#include "reader-lib/informer.h"
#include "tests/room.h"
#include "tests/support/places.h"

#define HEADERS "reader-lib/informer.h reader-lib/informer-*.h"

/* A command's output, as one text. */
__attribute__((format(printf, 1, 2))) static char *
output_of(const char *format, ...)
{
	char *command, *text = NULL;
	size_t size = 0;
	va_list args;
	FILE *in, *out = open_memstream(&text, &size);
	int c;

	va_start(args, format);
	assert_true(vasprintf(&command, format, args) > 0);
	va_end(args);
	in = popen(command, "re");
	assert_non_null(in);
	while ((c = fgetc(in)) != EOF)
		fputc(c, out);
	pclose(in);
	fclose(out);
	free(command);
	return text;
}

/* A command that must print nothing. */
#define ASSERT_SILENT(...)                                                                                   \
	do {                                                                                                 \
		char *said = output_of(__VA_ARGS__);                                                         \
                                                                                                             \
		assert_string_equal(said, "");                                                               \
		free(said);                                                                                  \
	} while (0)

/* the names in the version script */
#define EXPORTED "grep -oE '\\binformer_[a-z_]+;' reader-lib/libinformer.map | tr -d ';' | LC_ALL=C sort -u"

static void
need_source_tree(void)
{
	if (access("reader-lib/informer.h", R_OK) < 0) {
		print_message("SKIP: not started in the source tree\n");
		skip();
	}
}

/* A command that lists the names of this library, sorted, must list those in the version script. */
static void
assert_exports(const char *library, const char *list, const char *filter)
{
	char *map = output_of(EXPORTED);
	char *names = output_of("%s %s/%s 2>/dev/null | awk '%s' | LC_ALL=C sort -u", list, build_directory(),
				library, filter);

	if (!*names) {
		print_message("SKIP: no %s/%s\n", build_directory(), library);
		skip();
	}
	assert_string_equal(names, map);
	free(names);
	free(map);
}

/* Header, version script and shared library name the same functions. */
TEST_CASE(header_map_and_library_agree)
{
	char *header, *map;

	need_source_tree();
	header = output_of("grep -h -A1 '^INFORMER_API ' " HEADERS
			   " | grep -oE '\\binformer_[a-z_]+\\(' | tr -d '(' | LC_ALL=C sort -u");
	map = output_of(EXPORTED);
	assert_string_equal(header, map);
	assert_true(strlen(header) > 1000);
	free(header);
	free(map);
	assert_exports("libinformer.so", "nm -D --defined-only",
		       "$2 == \"T\" { sub(/@.*/, \"\", $3); print $3 }");
}

TEST_CASE(the_static_library_offers_no_other_name)
{
	need_source_tree();
	assert_exports("libinformer.a", "nm -g --defined-only",
		       "NF == 3 && $3 !~ /^__?[a-z]*san_|^__odr/ { print $3 }");
}

TEST_CASE(it_needs_libc_and_libsodium_alone)
{
	need_source_tree();
	ASSERT_SILENT("objdump -p %s/libinformer.so 2>/dev/null | awk '$1 == \"NEEDED\" { print $2 }' | "
		      "grep -vE '^lib(c|sodium|asan|ubsan|tsan)\\.so|^ld-linux'",
		      build_directory());
}

static void
compiles_as(const char *compiler, const char *standard, const char *language)
{
	char *there = output_of("command -v %s", compiler);
	bool have = *there;

	free(there);
	if (!have) {
		print_message("SKIP: no %s\n", compiler);
		skip();
	}
	/* each of the headers may be the first */
	ASSERT_SILENT("for f in reader-lib/informer*.h; do echo '#include \"'$f'\"\nint main(void) { "
		      "struct informer_snapshot s; "
		      "struct informer_iter i; (void)s; (void)i; return INFORMER_E_BUSY == 0; }' | %s "
		      "-std=%s -Wall -Wextra "
		      "-Wpedantic -Werror -I. -x %s -fsyntax-only - 2>&1; done",
		      compiler, standard, language);
}

TEST_CASE(the_headers_are_c11)
{
	need_source_tree();
	compiles_as("cc", "c11", "c");
}

TEST_CASE(the_headers_are_cpp17)
{
	need_source_tree();
	compiles_as("g++", "c++17", "c++");
}

/* Every code has a name, a cause and a remedy, and is below the system's codes; unknown codes have a text. */
TEST_CASE(every_error_has_a_name_a_cause_and_a_remedy)
{
#define X(name, code, cause, remedy)                                                                         \
	assert_true(INFORMER_E_##name < -4095);                                                              \
	assert_string_equal(informer_error_name(INFORMER_E_##name), "INFORMER_E_" #name);                    \
	assert_string_equal(informer_strerror(INFORMER_E_##name), cause);                                    \
	assert_string_equal(informer_error_remedy(INFORMER_E_##name), remedy);                               \
	assert_true(strlen(cause) > 10 && strlen(remedy) > 10);
	INFORMER_ERRORS(X)
#undef X
	assert_string_equal(informer_error_name(0), "INFORMER_OK");
	assert_string_equal(informer_error_name(-2), "ENOENT");
	assert_string_equal(informer_strerror(-2), "No such file or directory");
	assert_string_equal(informer_error_name(-99999), "UNKNOWN");
	assert_string_equal(informer_strerror(-99999), "unknown error");
	assert_string_equal(informer_strerror(INT_MIN), "unknown error");
	assert_string_equal(informer_error_remedy(-2), "");
}

TEST_CASE(header_and_library_have_one_version)
{
	assert_int_equal(informer_api_version(), INFORMER_API_VERSION);
	assert_string_equal(informer_library_version(), INFORMER_VERSION);
}

/* Every exported function is on a page of section 3. */
TEST_CASE(every_function_has_a_page)
{
	need_source_tree();
	ASSERT_SILENT(
		"for f in $(grep -oE '\\binformer_[a-z_]+;' reader-lib/libinformer.map | tr -d ';'); do "
		"grep -q -- \"$f\" reader-lib/man/*.3 || echo $f; done");
}

TEST_CASE(every_example_compiles)
{
	need_source_tree();
	ASSERT_SILENT(
		"for f in $(grep -l '^.EX' reader-lib/man/*.[37]); do awk '/^\\.EX/ { on = 1; next } "
		"/^\\.EE/ { on = 0 } on' $f | "
		"sed 's/\\\\e/\\\\/g' | cc -std=c11 -Wall -Wextra -Werror -Ireader-lib -fsyntax-only -x c - "
		"2>&1 | sed \"s|^|$f: |\"; done");
	ASSERT_SILENT("for f in reader-lib/man/*.3; do grep -L '^.EX' $f; done");
}

TEST_CASE(null_handles_are_refused)
{
	struct informer_status status = {.size = sizeof(status)};
	struct informer_resource *res;
	struct informer_snapshot snap;
	char text[8];

	assert_int_equal(informer_begin(NULL, &snap), -22);
	assert_int_equal(informer_dispatch(NULL), -22);
	assert_int_equal(informer_fd(NULL), -22);
	assert_int_equal(informer_status(NULL, &status), -22);
	assert_int_equal(informer_resource_open(NULL, "pods", &res), -22);
	assert_int_equal(informer_wait_attached(NULL, 0), -22);
	assert_int_equal(informer_wait_synced(NULL, "pods", 0), -22);
	assert_int_equal(informer_wait_commit(NULL, NULL, 0), -22);
	assert_int_equal(informer_wait_version(NULL, "pods", "1", 0), -22);
	assert_int_equal(informer_wait_object(NULL, "pods", INFORMER_BY_KEY, "n/a", NULL, NULL, 0), -22);
	assert_int_equal(informer_arm(NULL, NULL), -22);
	assert_int_equal(informer_error_text(-22, text, sizeof(text)), strlen(informer_strerror(-22)));
	informer_free(NULL, NULL);
}
