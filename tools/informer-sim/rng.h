/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers: one seeded generator (splitmix64), so that equal flags give equal clusters. Not for
 * secrets. Each thread uses its own.
 */
#ifndef TOOLS_INFORMER_SIM_RNG_H
#define TOOLS_INFORMER_SIM_RNG_H

#include <stddef.h>
#include <stdint.h>

struct sim_rng {
	uint64_t state;
};

uint64_t
sim_rng_next(struct sim_rng *rng);
/* Uniform in [0, bound); 0 for bound 0. */
uint32_t
sim_rng_below(struct sim_rng *rng, uint32_t bound);
/* n characters of Kubernetes' suffix alphabet (no vowels), NUL ended: out holds n + 1. */
void
sim_rng_suffix(struct sim_rng *rng, char *out, size_t n);
/* n lower-case hex digits, NUL ended. */
void
sim_rng_hex(struct sim_rng *rng, char *out, size_t n);
#define SIM_UID_SIZE 37
/* A version 4 UUID. */
void
sim_rng_uid(struct sim_rng *rng, char out[SIM_UID_SIZE]);

#endif
