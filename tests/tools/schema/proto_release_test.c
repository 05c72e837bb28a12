/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/room.h"
#include "tools/schema/proto_release.h"

TEST_CASE(a_release_is_read_as_servers_write_it)
{
	assert_int_equal(proto_release("1", "36"), 1036);
	assert_int_equal(proto_release("1", "29+"), 1029);
	assert_int_equal(proto_release("2", "0-beta"), 2000);
	assert_int_equal(proto_release("", "36"), 0);
	assert_int_equal(proto_release("1", ""), 0);
	assert_int_equal(proto_release("v1", "36"), 0);
	assert_int_equal(proto_release("1", "-36"), 0);
	assert_int_equal(proto_release("1", "1000"), 0);
	assert_int_equal(proto_release("99999999999999999999", "1"), 0);
}

TEST_CASE(a_release_is_read_of_a_modules_version)
{
	assert_int_equal(proto_release_of("v0.36.6 v0.37.2", "v0"), 1036);
	assert_int_equal(proto_release_of("1.37", "1"), 1037);
	assert_int_equal(proto_release_of("v0.36.6", "1"), 0);
	assert_int_equal(proto_release_of("v01.36", "v0"), 0);
	assert_int_equal(proto_release_of("v0", "v0"), 0);
	assert_int_equal(proto_release_of("", "1"), 0);
}
