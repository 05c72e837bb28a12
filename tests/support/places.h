/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a test finds what it does not bring along.
 */
#ifndef TESTS_SUPPORT_PLACES_H
#define TESTS_SUPPORT_PLACES_H

/* The build directory: $B, else the one that this program lies in. Static memory. */
const char *build_directory(void);

/*
 * A folder of pods, a file NAME.json each: $REAL_PODS, else those that make has generated. The test fails
 * where there is none. Static memory.
 */
const char *pods_directory(void);

#endif
