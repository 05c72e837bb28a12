/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers that mean harm, each in a process of its own (attacker.c), as hostile.c sets them on the daemon.
 */
#ifndef TESTS_BENCH_ATTACKER_H
#define TESTS_BENCH_ATTACKER_H

#include <stdbool.h>
#include <stddef.h>

struct attack {
	const char *name;	/* of rows: "flickering_pin" */
	const char *what;	/* for people */
	bool many;		/* more takes processor time than its process tells */
	const char *control;    /* what does the same work without informerd; NULL: the first one */
	void (*run)(const char *socket); /* prints "ready" when it is under way; returns when it fails */
};

/* The first CONTROLS do not touch informerd; the first one burns a processor. */
#define CONTROLS 3u
extern const struct attack attacks[];
extern const size_t attack_count;

/* `bench attack NAME SOCKET` */
int attacker_main(int argc, char **argv);

#endif
