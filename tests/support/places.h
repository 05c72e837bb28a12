/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of files that tests need and do not make. */
#ifndef TESTS_SUPPORT_PLACES_H
#define TESTS_SUPPORT_PLACES_H

/* The build directory: $B, otherwise the folder of this program. Static memory. */
const char *build_directory(void);

/*
 * A folder of pods, one file NAME.json each: $REAL_PODS, otherwise generated ones. Fails the test if there is
 * none. Static memory.
 */
const char *pods_directory(void);

#endif
