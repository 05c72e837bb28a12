/* SPDX-License-Identifier: Apache-2.0 */
/* Says what to do when a file at the socket's place cannot be made or written. */
#ifndef WRITER_BASE_PLACE_REMEDY_H
#define WRITER_BASE_PLACE_REMEDY_H

/*
 * error    negative errno
 * Returns  the end of a message, static: "; free some space there, or …"; "" for an error without a remedy
 */
const char *place_remedy(int error);

#endif
