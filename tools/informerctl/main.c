/*
 * informerctl: a reader for people. Finds the command and runs it; each command_*.c is one.
 *
 * It uses what any agent has, informer.h, and nothing else of the project.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informerctl/cli.h"
#include "tools/flags/nearest.h"

static const struct cli_command *const commands[] = {&command_get, &command_changes, &command_stat, &command_wait, &command_verify};
#define COMMAND_COUNT (sizeof(commands) / sizeof(*commands))

static void
help(void)
{
	puts("informerctl: look at the node's cache of Kubernetes objects.\n"
	     "\n"
	     "usage: informerctl [--socket PATH] COMMAND [flags]\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		printf("  %-8s %s\n", commands[i]->name, commands[i]->summary);
	puts("\n"
	     "  informerctl get pods -A                  as kubectl prints them, without the API server\n"
	     "  informerctl get pods -A --index nodeName=node-1\n"
	     "  informerctl get pods -w                  and each change\n"
	     "  informerctl changes pods -A              the same for scripts, as lines of JSON\n"
	     "  informerctl stat                         how informerd is\n"
	     "  informerctl wait --for=synced --timeout=30s\n"
	     "\n"
	     "  informerctl COMMAND --help               its flags\n"
	     "  informerctl --version\n"
	     "\n"
	     "The daemon's socket: --socket PATH, else $INFORMER_SOCKET, else /run/informer/informer.sock, or\n"
	     "$XDG_RUNTIME_DIR/informer/informer.sock when not root. Exit codes: 0 done, 1 not found, not synced or\n"
	     "damaged, 2 usage or no daemon. See informerctl(1).");
}

/* What others call it. */
static const struct {
	const char *word, *ours;
} habits[] = {
	{"watch", "get RESOURCE --watch"},  {"list", "get"},	      {"ls", "get"},		  {"describe", "get RESOURCE NAME -o yaml"},
	{"events", "changes"},		    {"status", "stat"},	      {"version", "--version"},	  {"api-resources", "stat"},
};

static int
unknown(const char *word)
{
	const char *names[COMMAND_COUNT + 2], *near;

	for (size_t i = 0; i < sizeof(habits) / sizeof(*habits); i++)
		if (strcmp(habits[i].word, word) == 0)
			return cli_fail("unknown command %s; here it is informerctl %s; see informerctl --help", word, habits[i].ours);

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		names[i] = commands[i]->name;
	if (*word == '-')
		return cli_fail("unknown flag %s; flags stand behind the command, see informerctl --help", word);
	near = nearest(word, names, COMMAND_COUNT);
	if (!near)
		return cli_fail("unknown command %s; objects are shown by informerctl get %s; see informerctl --help", word, word);
	return cli_fail("unknown command %s; did you mean %s?; see informerctl --help", word, near);
}

/* --socket in front of the command: kept for the command by the environment that the library reads as well. */
static int
take_socket(int argc, char **argv, int *at)
{
	const char *argument = argv[*at], *value = NULL;

	if (strncmp(argument, "--socket=", 9) == 0)
		value = argument + 9;
	else if (strcmp(argument, "--socket") == 0 && *at + 1 < argc)
		value = argv[++*at];
	if (!value || !*value)
		return strncmp(argument, "--socket", 8) == 0 ? cli_fail("--socket needs a value: --socket PATH") : unknown(argument);
	return setenv("INFORMER_SOCKET", value, 1) == 0 ? -1 : cli_fail("no memory");
}

int
main(int argc, char **argv)
{
	int at = 1;

	/* `informerctl get po -A | head` ends quietly, whatever a parent made of the signal. */
	signal(SIGPIPE, SIG_DFL);
	for (; at < argc && argv[at][0] == '-'; at++) {
		int r;

		if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
			help();
			return EXIT_SUCCESS;
		}
		if (strcmp(argv[at], "--version") == 0) {
			printf("informerctl %s (libinformer %s)\n", INFORMER_VERSION, informer_library_version());
			return EXIT_SUCCESS;
		}
		r = take_socket(argc, argv, &at);
		if (r >= 0)
			return r;
	}
	if (at >= argc) {
		help();
		return EXIT_USAGE;
	}
	if (strcmp(argv[at], "help") == 0 && at + 1 >= argc) {
		help();
		return EXIT_SUCCESS;
	}
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(argv[at], commands[i]->name) == 0)
			return commands[i]->run(commands[i], argc - at, argv + at);
	return unknown(argv[at]);
}
