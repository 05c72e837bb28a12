/* SPDX-License-Identifier: Apache-2.0 */
/* splitmix64, and random texts: name suffixes, UIDs, container ids; see rng.h. */
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
