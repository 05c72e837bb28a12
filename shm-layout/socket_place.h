/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where informerd's socket is when no one names it. informerd, the library and the tools use this rule:
 *
 *	1. $INFORMER_SOCKET, and no other place
 *	2. unless root, the user's own place. It is informer/informer.sock in $XDG_RUNTIME_DIR or
 *	   /run/user/UID, else /tmp/informer-UID/informer.sock
 *	3. /run/informer/informer.sock
 *
 * informerd takes the first place, a reader the first at which an informerd listens. At the user's own place
 * it must be the user's or root's: anyone may have made the directory in /tmp.
 */
#ifndef SHM_LAYOUT_SOCKET_PLACE_H
#define SHM_LAYOUT_SOCKET_PLACE_H

#include <stdbool.h>
#include <sys/un.h>

#define SOCKET_PLACES 2u
#define SOCKET_OF_SYSTEM "/run/informer/informer.sock"

struct socket_place {
	struct sockaddr_un address;
	bool own;	/* the user's own place */
};

/* Set an address to a path. 0; -EINVAL: the path is empty; -ENAMETOOLONG. */
int socket_place_set(struct socket_place *ret, const char *path);
/* The places in the order of the rule. Returns their number, or a negative errno of socket_place_set(). */
int socket_places_find(struct socket_place ret[SOCKET_PLACES]);

#endif
