/* SPDX-License-Identifier: Apache-2.0 */
/* A quota, compared with counts in an array. */
#include "tests/room.h"
#include "tools/informer-gateway/http/quota.h"

#define KEYS 40u
#define ALL 50u
#define OF_ONE 3u

/* After random takes and returns the quota equals the array. Keys of one hash place are told apart. */
TEST_CASE(a_quota_counts_like_an_array)
{
	unsigned counts[KEYS] = {0}, all = 0;
	struct gw_quota quota;

	srand(7);
	gw_quota_init(&quota, ALL, OF_ONE);
	for (unsigned i = 0; i < 200000; i++) {
		unsigned n = (unsigned)rand() % KEYS;
		uint64_t key = (uint64_t)n << 33; /* many share one hash place */

		if (rand() % 2) {
			enum gw_quota_verdict expected = all == ALL	     ? GW_QUOTA_ALL
							 : counts[n] == OF_ONE ? GW_QUOTA_OF_ONE
									       : GW_QUOTA_TAKEN;

			assert_int_equal(gw_quota_take(&quota, key), expected);
			counts[n] += expected == GW_QUOTA_TAKEN;
			all += expected == GW_QUOTA_TAKEN;
		} else if (counts[n] > 0) {
			gw_quota_give_back(&quota, key);
			counts[n]--;
			all--;
		}
		assert_int_equal(quota.all, all);
	}
	gw_quota_done(&quota);
}
