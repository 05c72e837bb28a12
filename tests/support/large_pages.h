/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel with larger pages than this one: in a program linked with --wrap=sysconf, the page size is what a
 * test says. The kernel's calls still accept what they accept.
 */
#ifndef TESTS_SUPPORT_LARGE_PAGES_H
#define TESTS_SUPPORT_LARGE_PAGES_H

/* What sysconf(_SC_PAGESIZE) returns; at first 0: the kernel's. */
extern long large_page_bytes;

#endif
