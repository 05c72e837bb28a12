/* SPDX-License-Identifier: Apache-2.0 */
/* What one identity may have under way. */
#include "tests/room.h"
#include "tools/informer-gateway/gate/identity_limits.h"

/* Each identity has its own count of each kind; what is given back may be taken again, and leaves nothing. */
TEST_CASE(each_identity_has_its_own_count)
{
	static const uint8_t a[GW_DIGEST] = {1}, b[GW_DIGEST] = {1, 0, 0, 0, 2}; /* of one bucket */
	struct gw_limits *limits = gw_limits_new(2, 1);

	assert_true(gw_limits_take(limits, a, GW_LIMIT_REQUESTS));
	assert_true(gw_limits_take(limits, a, GW_LIMIT_REQUESTS));
	assert_false(gw_limits_take(limits, a, GW_LIMIT_REQUESTS));
	assert_true(gw_limits_take(limits, a, GW_LIMIT_LISTS));
	gw_limits_give_back(limits, a, GW_LIMIT_LISTS);
	assert_true(gw_limits_take(limits, a, GW_LIMIT_WATCHES));
	assert_false(gw_limits_take(limits, a, GW_LIMIT_WATCHES));
	assert_true(gw_limits_take(limits, b, GW_LIMIT_REQUESTS));
	assert_int_equal(gw_limits_identities(limits), 2);
	gw_limits_give_back(limits, a, GW_LIMIT_REQUESTS);
	assert_true(gw_limits_take(limits, a, GW_LIMIT_REQUESTS));
	gw_limits_give_back(limits, a, GW_LIMIT_REQUESTS);
	gw_limits_give_back(limits, a, GW_LIMIT_REQUESTS);
	assert_int_equal(gw_limits_identities(limits), 2);
	gw_limits_give_back(limits, a, GW_LIMIT_WATCHES);
	assert_int_equal(gw_limits_identities(limits), 1);
	gw_limits_give_back(limits, b, GW_LIMIT_REQUESTS);
	assert_int_equal(gw_limits_identities(limits), 0);
	gw_limits_free(limits);
}
