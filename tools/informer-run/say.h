/* SPDX-License-Identifier: Apache-2.0 */
/* Prints informer-run's messages on standard error. */
#ifndef TOOLS_INFORMER_RUN_SAY_H
#define TOOLS_INFORMER_RUN_SAY_H

#define EXIT_USAGE 2

/* Print "informer-run: " and the sentence; with a name, "informer-run: NAME: ". Returns EXIT_USAGE. */
int
say(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
