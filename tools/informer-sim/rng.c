/* SPDX-License-Identifier: Apache-2.0 */
/*
 * splitmix64 and what Kubernetes makes of random numbers: name suffixes, UIDs,
 * container ids; and times, which the generated objects need as often.
 */
#include "tools/informer-sim/rng.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

uint64_t
sim_rng_next(struct sim_rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint32_t
sim_rng_below(struct sim_rng *rng, uint32_t bound)
{
	return (uint32_t)(((sim_rng_next(rng) >> 32) * bound) >> 32);
}

void
sim_rng_suffix(struct sim_rng *rng, char *out, size_t n)
{
	static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";

	for (size_t i = 0; i < n; i++)
		out[i] = alphabet[sim_rng_below(rng, sizeof(alphabet) - 1)];
	out[n] = '\0';
}

void
sim_rng_hex(struct sim_rng *rng, char *out, size_t n)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < n; i++, bits >>= 4) {
		if (i % 16 == 0)
			bits = sim_rng_next(rng);
		out[i] = "0123456789abcdef"[bits & 15];
	}
	out[n] = '\0';
}

void
sim_rng_uid(struct sim_rng *rng, char out[SIM_UID_SIZE])
{
	char hex[33];

	sim_rng_hex(rng, hex, 32);
	hex[12] = '4';
	hex[16] = "89ab"[sim_rng_below(rng, 4)];
	snprintf(out, SIM_UID_SIZE, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}

void
sim_time_print(int64_t seconds, char out[SIM_TIME_SIZE])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&t, &tm) ||
	    strftime(out, SIM_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm) != SIM_TIME_SIZE - 1)
		memcpy(out, "1970-01-01T00:00:00Z", SIM_TIME_SIZE);
}

int
sim_time_parse(const char *text, size_t len, int64_t *ret_seconds)
{
	static const char shape[] = "dddd-dd-ddTdd:dd:dd";
	struct tm tm = {0};
	int part[6] = {0}, n = 0;

	if (len < sizeof(shape) - 1)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(shape) - 1; i++) {
		if (shape[i] != 'd') {
			if (text[i] != shape[i])
				return -EINVAL;
			n++;
		} else if (text[i] < '0' || text[i] > '9') {
			return -EINVAL;
		} else {
			part[n] = part[n] * 10 + (text[i] - '0');
		}
	}
	tm.tm_year = part[0] - 1900;
	tm.tm_mon = part[1] - 1;
	tm.tm_mday = part[2];
	tm.tm_hour = part[3];
	tm.tm_min = part[4];
	tm.tm_sec = part[5];
	*ret_seconds = (int64_t)timegm(&tm);
	return 0;
}
