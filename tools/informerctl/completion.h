/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion: prints a script with which bash or zsh completes informerctl's command line.
 *
 * Commands and flags come from the tables of this program. Resources, names and namespaces are asked of
 * informerd by informerctl itself when the user completes a word.
 */
#ifndef TOOLS_INFORMERCTL_COMPLETION_H
#define TOOLS_INFORMERCTL_COMPLETION_H

#include <stddef.h>

#include "tools/informerctl/cli.h"

/*
 * Append the script for a shell, "bash" or "zsh". zsh runs bash's script by its bashcompinit.
 *
 * Returns 0, or -EINVAL: another shell
 */
int completion_write(const struct cli_command *const *commands, size_t count, const char *shell,
		     struct text *out);

#endif
