/* SPDX-License-Identifier: Apache-2.0 */
/* informer-run's settings: its command line, its file, and the messages about mistakes. */
#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "tools/informer-run/handlers_file.h"
#include "tools/informer-run/dead_letters.h"
#include "tools/informer-run/run_flags.h"

/* Standard error of the last call. */
static char said[4096];
static int saved = -1;

static void
listen_begin(void)
{
	FILE *file = tmpfile();

	fflush(stderr);
	saved = dup(STDERR_FILENO);
	dup2(fileno(file), STDERR_FILENO);
	fclose(file);
}

static void
listen_end(void)
{
	ssize_t n;

	fflush(stderr);
	lseek(STDERR_FILENO, 0, SEEK_SET);
	n = read(STDERR_FILENO, said, sizeof(said) - 1);
	said[n > 0 ? n : 0] = '\0';
	dup2(saved, STDERR_FILENO);
	close(saved);
}

static int
parse(struct settings *settings, const char *line)
{
	char *copy = strdup(line), *argv[32] = {(char[]){"informer-run"}}, *save = NULL;
	int argc = 1, r;

	for (char *word = strtok_r(copy, " ", &save); word && argc < 31; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	listen_begin();
	r = options_parse_run(argc, argv, settings);
	listen_end();
	free(copy);
	return r;
}

static void
assert_said(const char *words)
{
	if (!strstr(said, words))
		fail_msg("'%s' is not in: %s", words, said);
}

static void
refused(const char *line, const char *why)
{
	struct settings settings;

	assert_int_equal(parse(&settings, line), 2);
	assert_said(why);
}

/* Every flag reaches the handler's settings. The words after -- are its command, including flags. */
TEST_CASE(flags_become_settings)
{
	struct settings s;
	const struct handler_settings *h;

	assert_int_equal(parse(&s, "--resource pods -n shop -l app=web --field-selector=spec.nodeName=n1 "
				   "--consumer net --workers 4 "
				   "--window 2 --deadline 1m30s --max-crashes 5 --dead-letters /x/y "
				   "--drain-timeout 500ms --queue 100 --socket /s -- ./handler --verbose"),
			 -1);
	h = &s.handlers[0];
	assert_string_equal(h->resource, "pods");
	assert_string_equal(h->namespace_, "shop");
	assert_string_equal(h->labels, "app=web");
	assert_string_equal(h->fields, "spec.nodeName=n1");
	assert_string_equal(h->consumer, "net");
	assert_string_equal(h->name, "net");
	assert_string_equal(h->dead_letters, "/x/y");
	assert_int_equal(h->workers, 4);
	assert_int_equal(h->window, 2);
	assert_int_equal(h->deadline_ms, 90000);
	assert_int_equal(h->max_crashes, 5);
	assert_int_equal(h->queue_entries, 100);
	assert_false(h->exec);
	assert_int_equal(s.drain_ms, 500);
	assert_string_equal(s.socket, "/s");
	assert_string_equal(h->argv[0], "./handler");
	assert_string_equal(h->argv[1], "--verbose");
	assert_null(h->argv[2]);
	settings_done(&s);
}

/* The message for a missing or wrong setting says what would be right. */
TEST_CASE(mistakes_are_explained)
{
	refused("--consumer a -- x", "which resource? --resource pods");
	refused("--resource pods -- x", "--consumer NAME");
	refused("--resource pods --consumer a", "which command? -- ./handler");
	refused("--resource pods --consumer a/b -- x", "no '/'");
	refused("--resurce pods", "did you mean --resource?");
	refused("--res pods", "did you mean --resource?");
	refused("--dead=1s", "unknown flag --dead");
	refused("--workers 0 x", "from 1 to 256");
	refused("--workers", "--workers needs a value");
	refused("--deadline 5 x", "is no time");
	refused("--deadline 0 x", "is no time");
	refused("--config /nonexistent/x", "No such file");
	refused("--config x --resource pods", "leave out");
}

static void
file_refused(const char *dir, const char *content, const char *why)
{
	struct settings settings = {0};
	int r;

	listen_begin();
	r = settings_load(temp_file(dir, "run.yaml", content), &settings);
	listen_end();
	assert_int_equal(r, 2);
	assert_said(why);
	settings_done(&settings);
}

#define TEST(name) TEST_CASE_OF(const char *dir, temp_dir_setup, temp_dir_teardown, name)

/* A file holds several handlers. A command given as a text is run by the shell. */
TEST(a_file_holds_several_handlers)
{
	struct settings s = {0};

	assert_int_equal(settings_load(temp_file(dir, "run.yaml",
						 "drainTimeout: 5s\n"
						 "socket: /s\n"
						 "handlers:\n"
						 "- {resource: pods, consumer: one, command: [./a, --b], "
						 "workers: 2, deadLetters: /x}\n"
						 "- resource: nodes\n"
						 "  consumer: two\n"
						 "  name: second\n"
						 "  namespace: shop\n"
						 "  selector: app=web\n"
						 "  fieldSelector: spec.x=y\n"
						 "  deadline: 2s\n"
						 "  maxCrashes: 7\n"
						 "  window: 3\n"
						 "  queue: 9\n"
						 "  execPerEvent: true\n"
						 "  command: echo $INFORMER_NAME\n"),
				       &s),
			 -1);
	assert_int_equal(s.count, 2);
	assert_int_equal(s.drain_ms, 5000);
	assert_string_equal(s.handlers[0].argv[1], "--b");
	assert_int_equal(s.handlers[0].workers, 2);
	assert_false(s.handlers[0].exec);
	assert_string_equal(s.handlers[1].name, "second");
	assert_string_equal(s.handlers[1].argv[0], "sh");
	assert_string_equal(s.handlers[1].argv[2], "echo $INFORMER_NAME");
	assert_true(s.handlers[1].exec);
	assert_int_equal(s.handlers[1].max_crashes, 7);
	assert_int_equal(s.handlers[1].window, 3);
	assert_int_equal(s.handlers[1].queue_entries, 9);
	assert_int_equal(s.handlers[1].deadline_ms, 2000);
	settings_done(&s);
}

/* The message for a mistake in a file names line and column. */
TEST(mistakes_in_a_file_have_a_place)
{
	file_refused(dir, "handlers:\n- resource: pods\n  consumer: a\n  command: x\n  workers: many\n",
		     "run.yaml:5:12: a number");
	file_refused(dir, "handlers:\n- resorce: pods\n",
		     "run.yaml:2:3: unknown field 'resorce'; did you mean resource?");
	file_refused(dir, "handler:\n", "run.yaml:1:1: unknown field 'handler'; did you mean handlers?");
	file_refused(dir, "handlers:\n- resource: pods\n  consumer: a\n", "run.yaml:2:3: a: which command?");
	file_refused(dir,
		     "handlers:\n- {resource: p, consumer: a, command: x}\n- {resource: q, consumer: a, "
		     "command: y}\n",
		     "two handlers have the same consumer 'a'");
	file_refused(dir, "handlers: [\n", "run.yaml:2:1: ");
	file_refused(dir, "handlers: []\n", "no handlers");
	file_refused(dir, "", "must have handlers");
	file_refused(dir, "- x\n", "must have handlers");
	file_refused(dir, "handlers:\n- {resource: [pods], consumer: a, command: x}\n",
		     "run.yaml:2:14: a text or number");
	file_refused(dir, "handlers:\n- {resource: p, consumer: a, command: []}\n", "the command is empty");
	file_refused(dir, "handlers:\n- {resource: p, consumer: a, command: x, execPerEvent: yes}\n",
		     "true or false");
	file_refused(dir, "handlers:\n- {resource: p, consumer: a, command: x, deadline: 1w}\n",
		     "a time is wanted");
}

/* A dead letter is one line: time, reason, and the event as the handler got it. */
TEST(dead_letters_are_lines)
{
	const char *path = temp_path(dir, "folder/that/was/not/dead.jsonl");
	struct event *event = event_new(CHANGE_ADDED, "a\"b");
	char text[1024];
	FILE *file;
	int fd = dead_letters_open(path);

	assert_true(fd >= 0);
	assert_non_null(event);
	event->seq = 5;
	event->crashes = 3;
	event->object = strdup("{\"x\":1}");
	event->object_length = 7;
	assert_int_equal(dead_letters_add(fd, "con", "pods", event, "signal 11 (\"x\")"), 0);
	assert_int_equal(dead_letters_add(fd, "con", "pods", event, "again"), 0);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	assert_non_null(strstr(text,
			       ",\"consumer\":\"con\",\"resource\":\"pods\",\"why\":\"signal 11 "
			       "(\\\"x\\\")\",\"crashes\":3,\"event\":"
			       "{\"seq\":5,\"type\":\"ADDED\",\"initial\":false,\"object\":{\"x\":1}}}\n"));
	assert_non_null(fgets(text, sizeof(text), file));
	assert_null(fgets(text, sizeof(text), file));
	fclose(file);
	close(fd);
	/* a full disk is reported */
	fd = dead_letters_open("/dev/full");
	assert_true(fd >= 0);
	assert_int_equal(dead_letters_add(fd, "con", "pods", event, "why"), -ENOSPC);
	close(fd);
	event_free(event);
	assert_int_equal(dead_letters_open(dir), -EISDIR);
}
