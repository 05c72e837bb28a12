/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informerctl: a reader for people. Finds the command and runs it; each command_*.c is a command.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informerctl/cli.h"
#include "tools/informerctl/completion.h"
#include "tools/informerctl/kubectl_words.h"
#include "tools/flags/nearest.h"
#include "tools/printer/text.h"

static int
complete(const struct cli_command *command, int argc, char **argv);

static const struct flag completion_flags[] = {CLI_FLAGS};
/* Here, because it reads the list of commands. */
static const struct cli_command command_completion = {
	.name = "completion",
	.summary = "a script that completes informerctl in bash or zsh",
	.usage = "informerctl completion bash|zsh",
	.details = "In ~/.bashrc or ~/.zshrc: source <(informerctl completion bash), or zsh.\n"
		   "Resources, names and namespaces come from the cache.",
	.flags = completion_flags,
	.flag_count = sizeof(completion_flags) / sizeof(*completion_flags),
	.run = complete,
};
static const struct cli_command *const commands[] = {&command_get,   &command_changes, &command_stat,
						     &command_wait,  &command_whois,   &command_verify,
						     &command_rbac,  &command_purge, &command_completion};
#define COMMAND_COUNT (sizeof(commands) / sizeof(*commands))

static int
complete(const struct cli_command *command, int argc, char **argv)
{
	struct text out = TEXT_INIT(1);
	struct cli_args args = {0};
	int r = cli_parse(command, argc, argv, &args);

	if (r < 0 && (args.count != 1 || completion_write(commands, COMMAND_COUNT, args.items[0], &out) < 0))
		r = cli_fail("completion of which shell? informerctl completion bash, or zsh");
	if (r < 0)
		r = cli_finish(&out);
	text_done(&out);
	free(args.items);
	return r;
}

static void
help(void)
{
	puts("informerctl: look at the node's cache of Kubernetes objects.\n"
	     "\n"
	     "usage: informerctl [--socket PATH] COMMAND [flags]\n");
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	puts("\n"
	     "  informerctl get pods -A                  as kubectl prints them, without the API server\n"
	     "  informerctl get pods -A --index nodeName=node-1\n"
	     "  informerctl get pods -w                  and each change\n"
	     "  informerctl changes pods -A              the same for scripts, as lines of JSON\n"
	     "  informerctl whois 4711                   the Pod and workload of a process\n"
	     "  informerctl stat                         informerd's state\n"
	     "  informerctl wait --for=synced --timeout=30s\n"
	     "  informerctl rbac | kubectl apply -f -    the rights that informerd needs\n"
	     "\n"
	     "  informerctl COMMAND --help               its flags\n"
	     "  informerctl --version\n"
	     "\n"
	     "The daemon's socket: --socket PATH, else $INFORMER_SOCKET, else the user's own, in "
	     "$XDG_RUNTIME_DIR,\n"
	     "else /run/informer/informer.sock. Exit codes: 0 done, 1 not found, not synced or damaged, 2 "
	     "usage\n"
	     "or no daemon. See informerctl(1).");
}

static int
unknown(const char *word)
{
	const char *names[COMMAND_COUNT + 2], *near, *instead = kubectl_word_command(word);

	if (instead)
		return cli_fail("no command %s here; %s; see informerctl --help", word, instead);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		names[i] = commands[i]->name;
	near = nearest(word, names, COMMAND_COUNT);
	if (!near)
		return cli_fail(
			"unknown command %s; objects are shown by informerctl get %s; see informerctl --help",
			word, word);
	return cli_fail("unknown command %s; did you mean %s?; see informerctl --help", word, near);
}

/*
 * The number of arguments that a flag in front of the command occupies. 0: the flag must follow the command.
 */
static int
leading_flag(const char *argument)
{
	static const char *const names[] = {"--socket", "--namespace", "-n"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t length = strlen(names[i]);

		if (strcmp(argument, names[i]) == 0)
			return 2;
		if (strncmp(argument, names[i], length) == 0 &&
		    (argument[length] == '=' || names[i][1] != '-'))
			return 1;
	}
	return 0;
}

static int
unknown_flag(const char *flag)
{
	const char *name = flag + strspn(flag, "-"), *instead = kubectl_word_flag(name);

	if (instead)
		return cli_fail("no flag %s here; %s", flag, instead);
	return cli_fail("unknown flag %s; flags stand behind the command, see informerctl --help", flag);
}

/* Run "informerctl help get". */
static int
help_of(const char *word)
{
	char *argv[] = {(char *)(uintptr_t)word, (char[]){"--help"}, NULL};

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(word, commands[i]->name) == 0)
			return commands[i]->run(commands[i], 2, argv);
	return unknown(word);
}

/* Run the command at argv[at], with the flags in front of it moved behind it. */
static int
run(int argc, char **argv, int at)
{
	char *word = argv[at];

	memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof(*argv));
	argv[1] = word;
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(word, commands[i]->name) == 0)
			return commands[i]->run(commands[i], argc - 1, argv + 1);
	return unknown(word);
}

int
main(int argc, char **argv)
{
	int at = 1, taken;

	/* `informerctl get po -A | head` ends quietly, even if the parent ignored the signal. */
	signal(SIGPIPE, SIG_DFL);
	for (; at < argc && argv[at][0] == '-'; at += taken) {
		if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) {
			help();
			return EXIT_SUCCESS;
		}
		if (strcmp(argv[at], "--version") == 0) {
			printf("informerctl %s (libinformer %s)\n", INFORMER_VERSION,
			       informer_library_version());
			return EXIT_SUCCESS;
		}
		taken = leading_flag(argv[at]);
		if (taken == 0)
			return unknown_flag(argv[at]);
		if (at + taken > argc)
			return cli_fail("%s needs a value", argv[at]);
	}
	if (at >= argc) {
		help();
		return EXIT_USAGE;
	}
	if (strcmp(argv[at], "help") == 0) {
		if (at + 1 < argc)
			return help_of(argv[at + 1]);
		help();
		return EXIT_SUCCESS;
	}
	return run(argc, argv, at);
}
