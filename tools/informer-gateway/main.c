/* SPDX-License-Identifier: Apache-2.0 */
/* informer-gateway: serves the API server's read side from the arena. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sodium.h>

#include "tools/informer-gateway/config/gateway_flags.h"
#include "tools/informer-gateway/gateway.h"
#include "writer/base/descriptor_limit.h"
#include "writer/base/log.h"
#include "writer/base/message.h"

int
main(int argc, char **argv)
{
	_cleanup_(message_freep) char *error = NULL;
	struct gw_config config;
	int r;

	r = gw_flags_parse(argc, argv, stdout, &config, &error);
	if (r > 0)
		return EXIT_SUCCESS;
	if (r < 0) {
		fprintf(stderr, "informer-gateway: %s\n", error ? error : "out of memory");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	log_open(config.log_level, STDERR_FILENO);
	log_use(config.log_format);
	descriptor_limit_raise();
	r = sodium_init() < 0 ? message_set(&error, -1, "libsodium does not begin")
			      : gateway_run(&config, &error);
	if (r < 0)
		log_error("%s", error ? error : "out of memory");
	gw_config_done(&config);
	return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
