/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers of one file of tests, the same in each run. */
#ifndef TESTS_SUPPORT_DICE_H
#define TESTS_SUPPORT_DICE_H

#include <stdint.h>

static uint64_t dice = 20261121;

/* Below n. */
static inline unsigned
pick(uint64_t n)
{
	dice ^= dice << 13;
	dice ^= dice >> 7;
	dice ^= dice << 17;
	return (unsigned)(dice % n);
}

#endif
