/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A script's words for a Reflector's status: "backing-off code=429 reason=TooManyRequests lists=1
 * error=storage is". The state comes first, if it is named. What the script does not name is not compared.
 */
#ifndef TESTS_CONVERSATIONS_TOLD_STAT_H
#define TESTS_CONVERSATIONS_TOLD_STAT_H

#include "writer/reflect/reflector.h"

/*
 * Numbers: lists watch-lists watches events bookmarks bad failures code items remaining; lists-for-REASON
 * (request_result_name()). Texts: reason=; error=, a part of the last error, which goes to the end of the
 * line.
 *
 * Returns 0, or -EINVAL with the difference in *ret_why (free it)
 */
int stat_compare(const struct reflector_status *status, const char *expected, char **ret_why);

#endif
