/* SPDX-License-Identifier: Apache-2.0 */
/* The command line; see options.h. */
#include "tools/informer-run/run_flags.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader-lib/informer.h"
#include "tools/informer-run/handlers_file.h"
#include "tools/informer-run/say.h"
#include "tools/flags/nearest.h"
#include "tools/flags/whole_flag.h"

enum flag {
	FLAG_RESOURCE = 256,
	FLAG_NAMESPACE,
	FLAG_SELECTOR,
	FLAG_FIELDS,
	FLAG_CONSUMER,
	FLAG_NAME,
	FLAG_WORKERS,
	FLAG_WINDOW,
	FLAG_EXEC,
	FLAG_DEADLINE,
	FLAG_CRASHES,
	FLAG_DEAD_LETTERS,
	FLAG_QUEUE,
	FLAG_DRAIN,
	FLAG_CONFIG,
	FLAG_SOCKET,
	FLAG_HELP,
	FLAG_VERSION,
};

static const struct {
	enum flag flag;
	char letter;
	const char *name, *argument, *heading, *help;
} flags[] = {
	{FLAG_RESOURCE, 0, "resource", "RESOURCE", "What",
	 "whose events: pods, deployments.apps, as kubectl names them"},
	{FLAG_NAMESPACE, 'n', "namespace", "NS", NULL, "of this namespace only (default: all)"},
	{FLAG_SELECTOR, 'l', "selector", "SELECTOR", NULL,
	 "of objects with these labels: app=web,tier in (a,b)"},
	{FLAG_FIELDS, 0, "field-selector", "SELECTOR", NULL,
	 "of objects with these fields: spec.nodeName=n1,status.phase!=Running"},
	{FLAG_CONSUMER, 0, "consumer", "NAME", NULL,
	 "under which informerd remembers how far the handler got; needed"},
	{FLAG_QUEUE, 0, "queue", "N", NULL,
	 "events that informerd keeps for it when it is slow; 0, the default, is informerd's (4096)"},
	{FLAG_WORKERS, 0, "workers", "N", "How",
	 "processes side by side (default: 1); events of one object stay in order"},
	{FLAG_WINDOW, 0, "window", "N", NULL,
	 "events a process has at most before it acknowledges (default: 16)"},
	{FLAG_EXEC, 0, "exec-per-event", NULL, NULL,
	 "one short process an event, which reads it from its standard input: exit code\n0 acknowledges, 75 "
	 "asks for another try later, all else is a crash"},
	{FLAG_DEADLINE, 0, "deadline", "TIME", NULL,
	 "for an answer; then the process is killed (default: 30s)"},
	{FLAG_CRASHES, 0, "max-crashes", "N", NULL,
	 "on one event; then it is set aside as a dead letter (default: 3)"},
	{FLAG_DEAD_LETTERS, 0, "dead-letters", "FILE", NULL,
	 "where to (JSON Lines; default: CONSUMER.jsonl in /var/lib/informer-run, "
	 "or\n~/.local/state/informer-run when not root)"},
	{FLAG_NAME, 0, "name", "NAME", NULL, "what status and messages call it (default: the consumer)"},
	{FLAG_DRAIN, 0, "drain-timeout", "TIME", NULL, "at SIGTERM, for what is under way (default: 30s)"},
	{FLAG_CONFIG, 0, "config", "FILE", "Else", "several handlers, from a YAML file; see informer-run(1)"},
	{FLAG_SOCKET, 0, "socket", "PATH", NULL,
	 "informerd's socket (default: $INFORMER_SOCKET, else /run/informer/informer.sock, "
	 "or\n$XDG_RUNTIME_DIR/informer/informer.sock when not root)"},
	{FLAG_HELP, 'h', "help", NULL, NULL, "print this"},
	{FLAG_VERSION, 0, "version", NULL, NULL, "print the version"},
};
#define FLAG_COUNT (sizeof(flags) / sizeof(*flags))

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
	     "What is not acknowledged comes again, also after a crash or restart of either. Lines whose "
	     "type\n"
	     "is COALESCED, RESYNC or RESYNC_END are told only, and not answered.\n"
	     "\n"
	     "    informer-run --resource pods --consumer hook --exec-per-event -- ./on-pod.sh");
	for (size_t i = 0; i < FLAG_COUNT; i++) {
		char letter[8] = "    ";

		if (flags[i].heading)
			printf("\n%s\n", flags[i].heading);
		if (flags[i].letter)
			snprintf(letter, sizeof(letter), "-%c, ", flags[i].letter);
		printf("  %s--%s%s%s\n", letter, flags[i].name, flags[i].argument ? " " : "",
		       flags[i].argument ? flags[i].argument : "");
		for (const char *line = flags[i].help; *line;) {
			size_t length = strcspn(line, "\n");

			printf("          %.*s\n", (int)length, line);
			line += length + (line[length] == '\n');
		}
	}
	puts("\nTIME is 500ms, 30s, 2m or 1h30m. Exit codes: 0 drained, 1 not all that was under way was "
	     "answered in\n"
	     "time, 2 usage, or nothing can be run. See informer-run(1).");
}

static int
bad_value(const char *flag, const char *value, const char *what)
{
	return say(NULL, "--%s %s: %s", flag, value, what);
}

static const char *
flag_name(int flag)
{
	for (size_t i = 0; i < FLAG_COUNT; i++)
		if ((int)flags[i].flag == flag)
			return flags[i].name;
	return "";
}

static int
take_number(int flag, uint32_t low, uint32_t high, uint32_t *ret)
{
	char what[64];

	if (settings_number(optarg, low, high, ret))
		return -1;
	snprintf(what, sizeof(what), "must be a number from %u to %u", low, high);
	return bad_value(flag_name(flag), optarg, what);
}

static int
take_time(int flag, uint32_t *ret_ms)
{
	if (settings_duration(optarg, ret_ms) && (*ret_ms > 0 || flag == FLAG_DRAIN))
		return -1;
	return bad_value(flag_name(flag), optarg, "is no time; write 500ms, 30s, 2m or 1h30m");
}

static int
take_string(int flag, char **at)
{
	if (!*optarg)
		return say(NULL, "--%s needs a value that is not empty", flag_name(flag));
	return settings_set(at, optarg) ? -1 : say(NULL, "%s", strerror(ENOMEM));
}

static int
take(int flag, struct settings *settings, struct handler_settings *handler, char **config)
{
	switch (flag) {
	case FLAG_RESOURCE:
		return take_string(flag, &handler->resource);
	case FLAG_NAMESPACE:
		return take_string(flag, &handler->namespace_);
	case FLAG_SELECTOR:
		return take_string(flag, &handler->labels);
	case FLAG_FIELDS:
		return take_string(flag, &handler->fields);
	case FLAG_CONSUMER:
		return take_string(flag, &handler->consumer);
	case FLAG_NAME:
		return take_string(flag, &handler->name);
	case FLAG_DEAD_LETTERS:
		return take_string(flag, &handler->dead_letters);
	case FLAG_CONFIG:
		return take_string(flag, config);
	case FLAG_SOCKET:
		return take_string(flag, &settings->socket);
	case FLAG_WORKERS:
		return take_number(flag, 1, SETTINGS_WORKERS_MAX, &handler->workers);
	case FLAG_WINDOW:
		return take_number(flag, 1, SETTINGS_WINDOW_MAX, &handler->window);
	case FLAG_CRASHES:
		return take_number(flag, 1, 1000, &handler->max_crashes);
	case FLAG_QUEUE:
		return take_number(flag, 0, 1u << 20, &handler->queue_entries);
	case FLAG_DEADLINE:
		return take_time(flag, &handler->deadline_ms);
	case FLAG_DRAIN:
		return take_time(flag, &settings->drain_ms);
	case FLAG_EXEC:
		handler->exec = true;
		return -1;
	case FLAG_VERSION:
		printf("informer-run %s (libinformer %s)\n", INFORMER_VERSION, informer_library_version());
		return EXIT_SUCCESS;
	default:
		help();
		return EXIT_SUCCESS;
	}
}

static int
unknown(const char *argument)
{
	const char *names[FLAG_COUNT], *near;
	bool is_long = strncmp(argument, "--", 2) == 0;
	char name[64];

	if (strcmp(argument, "-A") == 0 || strcmp(argument, "--all-namespaces") == 0)
		return say(NULL, "unknown flag %s; all namespaces is the default, leave it out", argument);
	for (size_t i = 0; i < FLAG_COUNT; i++)
		names[i] = flags[i].name;
	argument += strspn(argument, "-");
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument, "="), argument);
	near = nearest(name, names, FLAG_COUNT);
	return say(NULL, "unknown flag %s%s%s%s%s; see informer-run --help", is_long ? "--" : "-", name,
		   near ? "; did you mean --" : "", near ? near : "", near ? "?" : "");
}

/* The command, and what does not go together. */
static int
finish(int argc, char **argv, struct settings *settings, const char *config, bool handler_flags)
{
	struct handler_settings *handler = &settings->handlers[0];
	char error[512];

	if (config) {
		if (handler_flags || optind < argc)
			return say(NULL, "--config %s says which handlers: leave out '%s'", config,
				   optind < argc ? argv[optind] : "--resource ...");
		settings_done(&(struct settings){.handlers = settings->handlers, .count = settings->count});
		settings->handlers = NULL;
		settings->count = 0;
		return settings_load(config, settings);
	}
	handler->argv = calloc((size_t)(argc - optind) + 1, sizeof(char *));
	for (int i = optind; i < argc && handler->argv; i++)
		if (!settings_set(&handler->argv[i - optind], argv[i]))
			return say(NULL, "%s", strerror(ENOMEM));
	return handler->argv && settings_check(settings, error, sizeof(error)) ? -1 : say(NULL, "%s", error);
}

int
options_parse_run(int argc, char **argv, struct settings *ret_settings)
{
	struct option options[FLAG_COUNT + 1] = {{0}};
	struct settings settings = {.drain_ms = 30000};
	struct handler_settings *handler = settings_add(&settings);
	bool handler_flags = false;
	char *config = NULL;
	int c, r = handler ? -1 : say(NULL, "%s", strerror(ENOMEM));

	for (size_t i = 0; i < FLAG_COUNT; i++)
		options[i] = (struct option){flags[i].name,
					     flags[i].argument ? required_argument : no_argument, NULL,
					     (int)flags[i].flag};
	optind = 1;
	opterr = 0;
	while (r < 0) {
		if (!flag_is_whole(argv[optind], options)) {
			r = unknown(argv[optind]);
			break;
		}
		c = getopt_long(argc, argv, "+:n:l:h", options, NULL);
		if (c == -1)
			break;
		if (c == 'n')
			c = FLAG_NAMESPACE;
		else if (c == 'l')
			c = FLAG_SELECTOR;
		else if (c == 'h')
			c = FLAG_HELP;
		handler_flags |= c >= FLAG_RESOURCE && c < FLAG_DRAIN;
		if (c == ':')
			r = say(NULL, "%s needs a value", argv[optind - 1]);
		else if (c == '?')
			r = unknown(argv[optind - 1]);
		else
			r = take(c, &settings, handler, &config);
	}
	if (r < 0)
		r = finish(argc, argv, &settings, config, handler_flags);
	free(config);
	if (r < 0)
		*ret_settings = settings;
	else
		settings_done(&settings);
	return r;
}

int
options_parse_status(int argc, char **argv, struct status_options *ret_options)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'}, {"help", no_argument, NULL, 'h'}, {0}};
	int c;

	*ret_options = (struct status_options){0};
	for (int i = 1; i < argc; i++)
		if (!flag_is_whole(argv[i], options))
			return say(NULL, "status takes a NAME and -o table|json; see informer-run --help");
	optind = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
		if (c == 'h') {
			help();
			return EXIT_SUCCESS;
		}
		if (c != 'o')
			return say(NULL, "status takes a NAME and -o table|json; see informer-run --help");
		if (strcmp(optarg, "json") != 0 && strcmp(optarg, "table") != 0)
			return say(NULL, "-o %s is not known; there are table and json", optarg);
		ret_options->json = strcmp(optarg, "json") == 0;
	}
	if (argc - optind > 1)
		return say(NULL, "status takes one NAME at most");
	ret_options->name = argv[optind];
	return -1;
}
