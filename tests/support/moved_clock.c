/* SPDX-License-Identifier: Apache-2.0 */
/* A clock that a test moves, for the code that reads the system's. */
#include "tests/support/moved_clock.h"

#include <stdbool.h>
#include <time.h>

#define SECOND 1000000000ull

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

static _Atomic uint64_t ahead_ns;
static _Atomic bool stands;

void
moved_clock_advance(uint64_t ns)
{
	ahead_ns += ns;
}

void
moved_clock_stop(void)
{
	stands = true;
}

int
__wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
	uint64_t ns;
	int r;

	if (stands) {
		*ret = (struct timespec){.tv_sec = 1000000};
		return 0;
	}
	r = __real_clock_gettime(clock, ret);
	ns = (uint64_t)ret->tv_nsec + ahead_ns;
	ret->tv_sec += (time_t)(ns / SECOND);
	ret->tv_nsec = (long)(ns % SECOND);
	return r;
}
