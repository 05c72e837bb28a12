/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: informerd's command line. One table makes the parser, --help and (by a test)
 * the OPTIONS section of informerd(8).
 */
#ifndef WRITER_CONFIG_OPTIONS_H
#define WRITER_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "writer/config/config.h"

struct options {
	char *config_path;	/* --config, or NULL */
	struct config flags;	/* what flags said; unset fields zero, log_level -1 */
	bool standby;		/* wait until the informerd that serves the socket ends */
	bool check;		/* look at the configuration and exit */
	bool help, version;	/* print and exit 0 */
	char **arguments;	/* the command line as it was, ended by NULL; secrets included */
};

/*
 * Parse a command line: --flag VALUE, --flag=VALUE, -n VALUE. There are no other arguments.
 *
 * ret_options  set on success only; give it to options_done()
 * Returns      0, -EINVAL with a message that names the flag, the nearest one if it is
 *              unknown (main prints it and exits 2), -ENOMEM
 */
int options_parse(int argc, char *const *argv, struct options *ret_options, char **ret_error);
void options_done(struct options *options);

/*
 * Take the flags once more, over what a file said: they win, lists are joined; but groups to impersonate
 * replace those of the file. Returns 0, -EINVAL with message, -ENOMEM.
 */
int options_apply(const struct options *options, struct config *config, char **ret_error);

/*
 * Overwrite the secrets among the arguments, which everybody on this machine can read in /proc; after
 * options_parse(). What a flag's value was is in `options` alone then.
 */
void options_hide_secrets(int argc, char **argv);

/* What --help prints. */
void options_help(FILE *out);

#endif
