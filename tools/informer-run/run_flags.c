/* SPDX-License-Identifier: Apache-2.0 */
/* The command line; see run_flags.h. */
#include "tools/informer-run/run_flags.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader-lib/informer.h"
#include "tools/informer-run/handlers_file.h"
#include "tools/informer-run/say.h"
#include "tools/flags/flags.h"

/* The command line. The one handler's settings come first, see says_handler(). */
struct line {
	struct handler_settings handler;
	char *config, *socket;
	uint32_t drain_ms;
	bool help, version;
};

/* ---- values ---- */

static int
take_number(void *at, const char *value, uint32_t low, uint32_t high, char **ret_error)
{
	uint64_t number;
	int r = flag_number(value, low, high, &number, ret_error);

	if (r == 0)
		*(uint32_t *)at = (uint32_t)number;
	return r;
}

static int
take_workers(void *at, const char *value, char **ret_error)
{
	return take_number(at, value, 1, SETTINGS_WORKERS_MAX, ret_error);
}

static int
take_window(void *at, const char *value, char **ret_error)
{
	return take_number(at, value, 1, SETTINGS_WINDOW_MAX, ret_error);
}

static int
take_crashes(void *at, const char *value, char **ret_error)
{
	return take_number(at, value, 1, 1000, ret_error);
}

static int
take_queue(void *at, const char *value, char **ret_error)
{
	return take_number(at, value, 0, 1u << 20, ret_error);
}

static int
take_time(void *at, const char *value, char **ret_error)
{
	if (settings_duration(value, at))
		return 0;
	return flag_fail(ret_error, "is no time; write 500ms, 30s, 2m or 1h30m");
}

/* A duration above 0. */
static int
take_deadline(void *at, const char *value, char **ret_error)
{
	uint32_t ms = 0;
	int r = take_time(&ms, strcmp(value, "0") == 0 ? "" : value, ret_error);

	if (r == 0)
		*(uint32_t *)at = ms;
	return r;
}

/* A hint for a flag that only kubectl has. */
static const char *
foreign_hint(const char *name)
{
	if (strcmp(name, "A") == 0 || strcmp(name, "all-namespaces") == 0)
		return "all namespaces is the default, leave it out";
	return NULL;
}

/* ---- the table ---- */

static const struct flag flags[] = {
	FLAG_HEADING("What"),
	{"resource", 0, "RESOURCE", "whose events: pods, deployments.apps, as kubectl names them",
	 FLAG_COPY(struct line, handler.resource)},
	{"namespace", 'n', "NS", "of this namespace only (default: all)",
	 FLAG_COPY(struct line, handler.namespace_)},
	{"selector", 'l', "SELECTOR", "of objects with these labels: app=web,tier in (a,b)",
	 FLAG_COPY(struct line, handler.labels)},
	{"field-selector", 0, "SELECTOR",
	 "of objects with these fields: spec.nodeName=n1,status.phase!=Running",
	 FLAG_COPY(struct line, handler.fields)},
	{"consumer", 0, "NAME", "under which informerd remembers how far the handler got; needed",
	 FLAG_COPY(struct line, handler.consumer)},
	{"queue", 0, "N",
	 "events that informerd keeps for it when it is slow; 0, the default, is informerd's (4096)",
	 take_queue, offsetof(struct line, handler.queue_entries), false},
	FLAG_HEADING("How"),
	{"workers", 0, "N", "processes side by side (default: 1); events of one object stay in order",
	 take_workers, offsetof(struct line, handler.workers), false},
	{"window", 0, "N", "events a process has at most before it acknowledges (default: 16)", take_window,
	 offsetof(struct line, handler.window), false},
	{"exec-per-event", 0, NULL,
	 "one short process an event, which reads it from its standard input: exit code\n0 acknowledges, 75 "
	 "asks for another try later, all else is a crash",
	 FLAG_ON(struct line, handler.exec)},
	{"deadline", 0, "TIME", "for an answer; then the process is killed (default: 30s)", take_deadline,
	 offsetof(struct line, handler.deadline_ms), false},
	{"max-crashes", 0, "N", "on one event; then it is set aside as a dead letter (default: 3)",
	 take_crashes, offsetof(struct line, handler.max_crashes), false},
	{"dead-letters", 0, "FILE",
	 "where to (JSON Lines; default: CONSUMER.jsonl in /var/lib/informer-run, "
	 "or\n~/.local/state/informer-run when not root)",
	 FLAG_COPY(struct line, handler.dead_letters)},
	{"name", 0, "NAME", "what status and messages call it (default: the consumer)",
	 FLAG_COPY(struct line, handler.name)},
	{"drain-timeout", 0, "TIME", "at SIGTERM, for what is under way (default: 30s)", take_time,
	 offsetof(struct line, drain_ms), false},
	FLAG_HEADING("Else"),
	{"config", 0, "FILE", "several handlers, from a YAML file; see informer-run(1)",
	 FLAG_COPY(struct line, config)},
	{"socket", 0, "PATH",
	 "informerd's socket (default: $INFORMER_SOCKET, else the user's own, in $XDG_RUNTIME_DIR,\n"
	 "else /run/informer/informer.sock)",
	 FLAG_COPY(struct line, socket)},
	{"help", 'h', NULL, "print this", FLAG_ON(struct line, help)},
	{"version", 0, NULL, "print the version", FLAG_ON(struct line, version)},
};
static const struct flag_table table = {flags, sizeof(flags) / sizeof(*flags), "informer-run --help", true,
					foreign_hint};

static void
help(void)
{
	puts("informer-run: run handler processes on the events of Kubernetes objects; they may crash.\n"
	     "\n"
	     "usage: informer-run --resource RESOURCE --consumer NAME [flags] -- COMMAND [args...]\n"
	     "       informer-run --config FILE\n"
	     "       informer-run status [NAME] [-o table|json]\n"
	     "\n"
	     "A handler reads one event a line from its standard input, as JSON\n"
	     "\n"
	     "    "
	     "{\"seq\":7,\"type\":\"ADDED|MODIFIED|DELETED\",\"initial\":false,\"object\":{...},\"old\":{...}"
	     "}\n"
	     "\n"
	     "and answers each with a line on its standard output: `ack 7`, or `retry 7 [MILLISECONDS]`.\n"
	     "It flushes each answer: most languages buffer output to a pipe (python -u, jq --unbuffered).\n"
	     "What is not acknowledged comes again, also after a crash or restart of either. Lines whose "
	     "type\n"
	     "is COALESCED, RESYNC or RESYNC_END have no \"object\", and are not answered.\n"
	     "\n"
	     "    informer-run --resource pods --consumer hook --exec-per-event -- ./on-pod.sh");
	flags_help(stdout, &table, 0);
	puts("\nTIME is 500ms, 30s, 2m or 1h30m. Exit codes: 0 drained, 1 not all that was under way was "
	     "answered in\n"
	     "time, 2 usage, or nothing can be run. See informer-run(1).");
}

/* Whether a flag sets something of the one handler. */
static bool
says_handler(int argc, char **argv)
{
	struct flag_reader in = {.argc = argc, .argv = argv, .at = 1};
	const struct flag *flag;
	char *value;

	while (flag_next(&table, &in, &flag, &value, NULL) > 0)
		if (flag->offset < sizeof(struct handler_settings))
			return true;
	return false;
}

/* Load the handlers from the file of --config. Returns -1, or the exit code. */
static int
load(const struct line *line, int argc, char **argv, int at, struct settings *settings)
{
	if (at < argc || says_handler(argc, argv))
		return say(NULL, "--config %s says which handlers: leave out '%s'", line->config,
			   at < argc ? argv[at] : "--resource ...");
	settings_done(&(struct settings){.handlers = settings->handlers, .count = settings->count});
	settings->handlers = NULL;
	settings->count = 0;
	return settings_load(line->config, settings);
}

/* Take the handler's command and check the settings. Returns -1, or the exit code. */
static int
finish(int argc, char **argv, int at, struct settings *settings)
{
	struct handler_settings *handler = &settings->handlers[0];
	char error[512];

	handler->argv = calloc((size_t)(argc - at) + 1, sizeof(char *));
	if (!handler->argv)
		return say(NULL, "%s", strerror(ENOMEM));
	for (int i = at; i < argc; i++)
		if (!settings_set(&handler->argv[i - at], argv[i]))
			return say(NULL, "%s", strerror(ENOMEM));
	return settings_check(settings, error, sizeof(error)) ? -1 : say(NULL, "%s", error);
}

int
options_parse_run(int argc, char **argv, struct settings *ret_settings)
{
	struct settings settings = {0};
	struct handler_settings *handler = settings_add(&settings);
	struct line line = {.drain_ms = 30000};
	char *error = NULL;
	int at, r = -1;

	if (!handler)
		return say(NULL, "%s", strerror(ENOMEM));
	line.handler = *handler;
	at = flags_parse(&table, argc, argv, &line, NULL, &error);
	*handler = line.handler;
	settings.socket = line.socket;
	settings.drain_ms = line.drain_ms;
	if (at < 0) {
		r = say(NULL, "%s", error ? error : strerror(-at));
	} else if (line.help) {
		help();
		r = EXIT_SUCCESS;
	} else if (line.version) {
		printf("informer-run %s (libinformer %s)\n", INFORMER_VERSION, informer_library_version());
		r = EXIT_SUCCESS;
	} else {
		r = line.config ? load(&line, argc, argv, at, &settings) : finish(argc, argv, at, &settings);
	}
	free(error);
	free(line.config);
	if (r < 0)
		*ret_settings = settings;
	else
		settings_done(&settings);
	return r;
}

/* ---- informer-run status ---- */

struct status_line {
	const char *output, *name;
	size_t names;
	bool help;
};

static int
take_name(void *into, const char *text, char **ret_error)
{
	struct status_line *line = into;

	(void)ret_error;
	line->name = text;
	line->names++;
	return 0;
}

int
options_parse_status(int argc, char **argv, struct status_options *ret_options)
{
	static const struct flag status_flags[] = {
		{"output", 'o', "table|json", "", FLAG_TEXT(struct status_line, output)},
		{"help", 'h', NULL, "", FLAG_ON(struct status_line, help)},
	};
	static const struct flag_table status = {status_flags, 2, NULL, false, NULL};
	struct status_line line = {.output = "table"};

	if (flags_parse(&status, argc, argv, &line, take_name, NULL) < 0)
		return say(NULL, "status takes a NAME and -o table|json; see informer-run --help");
	if (line.help) {
		help();
		return EXIT_SUCCESS;
	}
	if (strcmp(line.output, "json") != 0 && strcmp(line.output, "table") != 0)
		return say(NULL, "-o %s is not known; there are table and json", line.output);
	if (line.names > 1)
		return say(NULL, "status takes one NAME at most");
	*ret_options = (struct status_options){.name = line.name, .json = strcmp(line.output, "json") == 0};
	return -1;
}
