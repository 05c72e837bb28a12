/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A listen address says where an HTTP server of ours listens, as users write it:
 *
 *	127.0.0.1:9090   [::1]:9090   :9090 (every address of the machine)   unix:/run/informer/metrics.sock
 *
 * With port 0 the system chooses one. Names are not looked up.
 */
#ifndef WRITER_BASE_LISTEN_ADDRESS_H
#define WRITER_BASE_LISTEN_ADDRESS_H

#include <sys/socket.h>
#include <sys/types.h>

struct listen_address {
	struct sockaddr_storage address;
	socklen_t length;
};

/* Returns 0, or -EINVAL with a message that begins with the wrong text. */
int listen_address_parse(const char *text, struct listen_address *ret, char **ret_error);

/* A socket that listens. A Unix socket's file is known by device and inode. */
struct listener {
	int fd;
	char *path;		/* of a Unix socket; else NULL */
	dev_t device;
	ino_t inode;
	char name[128]; /* "http://127.0.0.1:43211" (with the chosen port), "unix:/path" */
};

/*
 * Listen at this address. A Unix socket's file is replaced if no process listens at it any more. The new
 * file is for the daemon's own user and group (0660).
 *
 * Returns  0; -EADDRINUSE, -EEXIST (another kind of file stands there), other negative errno; with message
 */
int listener_open(const struct listen_address *address, struct listener *ret, char **ret_error);

/*
 * Make a listener of an inherited socket that listens already. Its name is its address; a Unix socket's file
 * is not removed on close.
 */
struct listener listener_inherited(int fd);

/*
 * Close, and remove the file if it is still ours. A zeroed listener is fine, and so is one whose fd the
 * caller set to -1 after closing it.
 */
void listener_close(struct listener *listener);

#endif
