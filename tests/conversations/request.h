/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests as a script names them, and as informer-sim's log does: "LIST pods rv=0 limit=500" is `LIST rv=0
 * limit=500`. What both sides need not say: the resource, an RV that is not given; of a watch that it wants
 * bookmarks, and a timeout of 300 to 599 s.
 */
#ifndef TESTS_CONVERSATIONS_REQUEST_H
#define TESTS_CONVERSATIONS_REQUEST_H

/* 0, or -EINVAL with what is otherwise in *ret_why (free it). Both texts are changed. */
int request_compare(char *asked, char *expected, char **ret_why);

#endif
