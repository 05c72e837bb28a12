/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: informerd's command line. One table produces the parser, --help and (checked by a test) the
 * OPTIONS section of informerd(8).
 */
#ifndef WRITER_CONFIG_OPTIONS_H
#define WRITER_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "writer/config/config.h"

struct options {
	char *config_path;	/* --config, or NULL */
	struct config flags;    /* values from flags; unset fields are zero, log_level -1 */
	bool standby;		/* wait until the informerd that serves the socket ends */
	bool check;             /* check the configuration and exit */
	bool check_config;	/* the same without the API server; check is set, too */
	bool estimate;		/* estimate the configuration's cost and exit; check is set, too */
	bool help, version;	/* print and exit 0 */
	char **arguments;       /* the original command line, ended by NULL; includes secrets */
};

/*
 * Parse a command line: --flag VALUE, --flag=VALUE, -n VALUE. There are no other arguments.
 *
 * ret_options  set on success only; free with options_done()
 * Returns      0; -EINVAL with a message that names the flag, and the nearest one if it is unknown (main
 *              prints it and exits 2); -ENOMEM
 */
int options_parse(int argc, char *const *argv, struct options *ret_options, char **ret_error);
void options_done(struct options *options);

/*
 * Apply the flags to a configuration that a file filled. Flags win and lists are joined; but groups to
 * impersonate replace those of the file. Returns 0, -EINVAL with message, -ENOMEM.
 */
int options_apply(const struct options *options, struct config *config, char **ret_error);

/*
 * Overwrite the secrets in argv, which every user can read in /proc. Call it after options_parse(); then only
 * `options` has them.
 */
void options_hide_secrets(int argc, char **argv);

/* What --help prints. */
void options_help(FILE *out);

#endif
