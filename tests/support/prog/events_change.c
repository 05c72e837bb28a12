/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events_change URL HISTORY SEED RATE [even]: changes pods at random through an API server, about RATE a
 * second, with bursts unless "even", until SIGTERM, and writes down each state that it made
 * (tests/support/pod_changes.h); each says when it was sent. Nothing else may change them. SIGUSR1: no pauses
 * any more. Exits 1 when the server says anything that is not expected.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "tests/support/pod_changes.h"

static volatile sig_atomic_t ends, hurries;

static void
on_signal(int number)
{
	*(number == SIGTERM ? &ends : &hurries) = 1;
}

int
main(int argc, char **argv)
{
	struct pod_changes c = {.names = 14};
	struct timespec pause;
	unsigned burst = 0;
	bool even;

	if (argc != 5 && argc != 6)
		return 2;
	even = argc == 6;
	c.url = argv[1];
	c.history = fopen(argv[2], "ae");
	c.dice.state = strtoull(argv[3], NULL, 10);
	pause = (struct timespec){.tv_nsec = 1000000000L / atoi(argv[4])};
	if (!c.history)
		return 1;
	pod_changes_begin(&c);
	signal(SIGTERM, on_signal);
	signal(SIGUSR1, on_signal);
	pod_changes_anchors(&c);
	while (!ends) {
		pod_changes_step(&c);
		if (burst > 0)
			burst--;
		else if (!even && event_model_draw(&c.dice, 200) == 0)
			burst = event_model_draw(&c.dice, 400);
		else if (!hurries)
			nanosleep(&pause, NULL);
	}
	pod_changes_done(&c);
	return fclose(c.history) == 0 ? 0 : 1;
}
