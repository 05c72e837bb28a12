/* SPDX-License-Identifier: Apache-2.0 */
/* The script's text around the tables; see completion.h. */
#include "tools/informerctl/completion.h"

#include <errno.h>
#include <string.h>

#include "tools/printer/text.h"

/*
 * Asks informerd only with --start-timeout 0 and without messages: a completion must not wait or print.
 * compgen -W expands its words as the shell does, so words of the cache pass only if nothing in them expands.
 */
static const char questions[] =
	"_informerctl_ask() {\n"
	"	informerctl ${socket:+--socket \"$socket\"} \"$@\" --start-timeout 0 2>/dev/null\n"
	"}\n"
	"_informerctl_plain() { grep -x '[A-Za-z0-9._:-]*' | sort -u; }\n"
	"_informerctl_resources() {\n"
	"	_informerctl_ask stat -o json | grep -o '\"resource\": *\"[^\"]*\"' | cut -d '\"' -f 4 |\n"
	"		_informerctl_plain\n"
	"}\n"
	"_informerctl_names() {\n"
	"	_informerctl_ask get \"$1\" -n \"${ns:-default}\" -o name | cut -d / -f 2 | "
	"_informerctl_plain\n"
	"}\n"
	"_informerctl_namespaces() {\n"
	"	{\n"
	"		_informerctl_ask get namespaces -o name | cut -d / -f 2\n"
	"		_informerctl_ask get pods -A --no-headers | cut -d ' ' -f 1\n"
	"	} | _informerctl_plain\n"
	"}\n";

static const char body[] =
	"_informerctl() {\n"
	"	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"	local command= resource= ns= socket= flags= valued='--socket --namespace -n' words= i\n"
	"	for ((i = 1; i < COMP_CWORD; i++)); do\n"
	"		case ${COMP_WORDS[i]} in\n"
	"		-n | --namespace) ns=${COMP_WORDS[i + 1]} ;;\n"
	"		--socket) socket=${COMP_WORDS[i + 1]} ;;\n"
	"		esac\n"
	"		case \" $valued \" in *\" ${COMP_WORDS[i]} \"*) ((i++)); continue ;; esac\n"
	"		case ${COMP_WORDS[i]} in\n"
	"		-*) ;;\n"
	"		*)\n"
	"			if [ -n \"$command\" ]; then\n"
	"				resource=${resource:-${COMP_WORDS[i]}}\n"
	"			else\n"
	"				command=${COMP_WORDS[i]}\n"
	"				_informerctl_flags\n"
	"			fi ;;\n"
	"		esac\n"
	"	done\n"
	"	case $prev in\n"
	"	-n | --namespace) words=$(_informerctl_namespaces) ;;\n"
	"	-o | --output) words='json yaml name wide table' ;;\n"
	"	--for) words='synced resourceVersion= condition= jsonpath= create delete' ;;\n"
	"	--socket) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"
	"	*)\n"
	"		case \" $valued \" in *\" $prev \"*) COMPREPLY=(); return ;; esac\n"
	"		case $cur,$command,$resource in\n"
	"		-*) words=${flags:---socket --help --version} ;;\n"
	"		*,,*) words=$_informerctl_commands ;;\n"
	"		*,completion,) words='bash zsh' ;;\n"
	"		*,help,) words=$_informerctl_commands ;;\n"
	"		*,get, | *,changes, | *,wait,) words=$(_informerctl_resources) ;;\n"
	"		*,get,* | *,wait,*) words=$(_informerctl_names \"$resource\") ;;\n"
	"		esac ;;\n"
	"	esac\n"
	"	COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	"}\n"
	"complete -F _informerctl informerctl\n";

/* Append "--name -l", each after a space: all flags, or those with a value. */
static void
add_flags(const struct cli_command *command, bool valued, struct text *out)
{
	for (size_t i = 0; i < command->flag_count; i++) {
		const struct flag *flag = &command->flags[i];

		if (!flag->name || (valued && !flag->argument))
			continue;
		text_addf(out, " --%s", flag->name);
		if (flag->letter)
			text_addf(out, " -%c", flag->letter);
	}
}

int
completion_write(const struct cli_command *const *commands, size_t count, const char *shell, struct text *out)
{
	bool zsh = strcmp(shell, "zsh") == 0;

	if (!zsh && strcmp(shell, "bash") != 0)
		return -EINVAL;
	text_addf(out, "# %s completion of informerctl; to use it: source <(informerctl completion %s)\n",
		  shell, shell);
	if (zsh)
		text_adds(out, "autoload -U +X compinit && compinit\n"
			       "autoload -U +X bashcompinit && bashcompinit\n");
	text_adds(out, "_informerctl_commands='");
	for (size_t i = 0; i < count; i++)
		text_addf(out, "%s ", commands[i]->name);
	text_adds(out, "help'\n_informerctl_flags() {\n\tcase $command in\n");
	for (size_t i = 0; i < count; i++) {
		text_addf(out, "\t%s)\n\t\tflags='", commands[i]->name);
		add_flags(commands[i], false, out);
		text_adds(out, "'\n\t\tvalued='");
		add_flags(commands[i], true, out);
		text_adds(out, "' ;;\n");
	}
	text_adds(out, "\tesac\n}\n");
	text_adds(out, questions);
	text_adds(out, body);
	return 0;
}
