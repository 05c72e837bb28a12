/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold_exit PID: once that process is to end, it goes on ending until we are killed: killed already, and
 * still holding all its descriptors and locks, as one whose memory takes the kernel long.
 *
 * Prints HOLDING when it watches over the process, and ENDING when that is held.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int
main(int argc, char **argv)
{
	pid_t pid = argc == 2 ? (pid_t)atol(argv[1]) : 0;
	int status;

	if (pid <= 0)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	/* the kernel lets the process go when we die, however that is */
	if (ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACEEXIT) < 0) {
		fprintf(stderr, "hold_exit: %s\n", strerror(errno));
		return 1;
	}
	puts("HOLDING");
	while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		int event = status >> 16;

		if (event == PTRACE_EVENT_EXIT) {
			puts("ENDING");
			for (;;)
				pause();
		}
		if (ptrace(PTRACE_CONT, pid, NULL, event ? 0 : WSTOPSIG(status)) < 0)
			break;
	}
	fprintf(stderr, "hold_exit: the process ended, or cannot be followed\n");
	return 1;
}
