/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares requests of a script with those of informer-sim's log: "LIST pods rv=0 limit=500" is `LIST rv=0
 * limit=500`. A script may leave out the resource and an RV that is not set. For a watch it may also leave
 * out bookmarks and a timeout of 300 to 599 s.
 */
#ifndef TESTS_CONVERSATIONS_REQUEST_H
#define TESTS_CONVERSATIONS_REQUEST_H

/* 0, or -EINVAL with the difference in *ret_why (free it). Changes both texts. */
int request_compare(char *asked, char *expected, char **ret_why);

#endif
