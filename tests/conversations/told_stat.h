/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a script says of a Reflector's status: "backing-off code=429 reason=TooManyRequests lists=1
 * error=storage is". First its state, where that is said; the rest name by name. What is not named does not
 * count.
 */
#ifndef TESTS_CONVERSATIONS_TOLD_STAT_H
#define TESTS_CONVERSATIONS_TOLD_STAT_H

#include "writer/reflect/reflector.h"

/*
 * Numbers: lists watch-lists watches events bookmarks bad failures code items remaining; lists-for-REASON
 * (request_result_name()). Texts: reason=; error=, the last one, which goes to the end of the line, and need
 * only be a part.
 *
 * Returns  0, or -EINVAL with what is otherwise in *ret_why (free it)
 */
int stat_compare(const struct reflector_status *status, const char *expected, char **ret_why);

#endif
