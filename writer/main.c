/* SPDX-License-Identifier: Apache-2.0 */
/*
 * informerd: reads options and configuration, then runs the daemon.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <sodium.h>
#include <uv.h>

#include "writer/config/config.h"
#include "writer/daemon/daemon.h"
#include "writer/daemon/restart.h"
#include "writer/base/descriptor_limit.h"
#include "writer/base/heap.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/config/options.h"
#include "writer/config/config_build.h"
#include "writer/base/sealed_text.h"

/* Descriptors 0 to 2 are taken, by /dev/null if by nobody else: none of ours may be mistaken for them. */
static int
take_standard_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (fd < 0)
			return -1;
	} while (fd <= STDERR_FILENO);
	close(fd);
	return 0;
}

static int
complain(const char *message)
{
	fprintf(stderr, "informerd: %s\n", message ? message : "out of memory");
	return DAEMON_USAGE;
}

/*
 * When libuv cannot grow its table of descriptors it ends the process, without a word: it has no other way
 * out. So it is said here; readers go on, and the next informerd has what this one had. That can be at the
 * start, which makes room for all readers (loop_room.h), or when more is open than that counts on.
 */
static void *
reallocate_or_end(void *memory, size_t bytes)
{
	void *larger = realloc(memory, bytes);

	if (!larger && bytes > 0) {
		log_error("out of memory: %zu bytes for the event loop cannot be had", bytes);
		_exit(DAEMON_RUNTIME);
	}
	return larger;
}

int
main(int argc, char **argv)
{
	_cleanup_(message_freep) char *error = NULL;
	struct options options;
	struct config config;
	sigset_t signals;
	int text, code;

	if (take_standard_descriptors() < 0 || sodium_init() < 0 ||
	    uv_replace_allocator(malloc, reallocate_or_end, calloc, free) < 0) {
		complain(strerror(errno));
		return DAEMON_RUNTIME;
	}
	prctl(PR_SET_NAME, program_invocation_short_name); /* it is "exe" behind a restart */
	signal(SIGPIPE, SIG_IGN);
	/* The loop takes these from descriptors; what comes before, or amid a restart, waits for it. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	heap_give_back_large();
	descriptor_limit_raise();
	if (options_parse(argc, argv, &options, &error) < 0)
		return complain(error);
	options_hide_secrets(argc, argv);
	if (options.help || options.version) {
		if (options.help)
			options_help(stdout);
		else
			printf("informerd %s\n", INFORMER_VERSION);
		code = fflush(stdout) == 0 ? DAEMON_OK : DAEMON_RUNTIME;
		options_done(&options);
		return code;
	}
	text = sealed_text_receive(RESTART_TEXT_VARIABLE);
	if ((text < 0 && sealed_text_read(options.config_path, CONFIG_MAX_BYTES, &text, &error) < 0) ||
	    config_build(&options, text, &config, &error) < 0) {
		options_done(&options);
		return complain(error);
	}
	if (options.check) {
		unsetenv("NOTIFY_SOCKET");
		log_open_plain(LOG_LEVEL_WARNING, "informerd: ");
	} else {
		log_open((enum log_level)config.log_level, STDERR_FILENO);
		log_use((enum log_format)config.log_format);
	}
	code = daemon_run(&options, text, &config);
	config_done(&config);
	options_done(&options);
	return code;
}
