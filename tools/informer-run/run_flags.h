/* SPDX-License-Identifier: Apache-2.0 */
/* Run flags: informer-run's command line. One table makes the parser and --help. */
#ifndef TOOLS_INFORMER_RUN_RUN_FLAGS_H
#define TOOLS_INFORMER_RUN_RUN_FLAGS_H

#include "tools/informer-run/settings.h"

/*
 * Parse the command line; with --config also read the file.
 *
 * ret_settings  set if -1 is returned; give it to settings_done()
 * Returns       -1 to continue, else the exit code, after the help or a message
 */
int
options_parse_run(int argc, char **argv, struct settings *ret_settings);

/* Flags of `informer-run status [NAME] [-o table|json]`. Returns -1 to continue. */
struct status_options {
	const char *name;
	bool json;
};
int
options_parse_status(int argc, char **argv, struct status_options *ret_options);

#endif
