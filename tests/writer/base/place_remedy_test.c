/* SPDX-License-Identifier: Apache-2.0 */
/* What to do after errors of the place where the socket is. */
#include <errno.h>

#include "tests/room.h"
#include "writer/base/place_remedy.h"

TEST_CASE(errors_of_a_place_have_a_remedy)
{
	assert_non_null(strstr(place_remedy(-ENOSPC), "; free some space there"));
	assert_non_null(strstr(place_remedy(-EDQUOT), "; free some space there"));
	assert_non_null(strstr(place_remedy(-EACCES), "; run informerd as a user that may write there"));
	assert_non_null(strstr(place_remedy(-EROFS), "--socket"));
	assert_string_equal(place_remedy(-EIO), "");
}
