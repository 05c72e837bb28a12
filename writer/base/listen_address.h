/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listen address: where an HTTP server of ours listens, as users write it:
 *
 *	127.0.0.1:9090   [::1]:9090   :9090 (every address of the machine)   unix:/run/informer/metrics.sock
 *
 * Port 0 lets the system choose one. Names are not looked up.
 */
#ifndef WRITER_BASE_LISTEN_ADDRESS_H
#define WRITER_BASE_LISTEN_ADDRESS_H

#include <sys/socket.h>
#include <sys/types.h>

struct listen_address {
	struct sockaddr_storage address;
	socklen_t length;
};

/* Returns 0, or -EINVAL with a message that begins with what was wrong. */
int listen_address_parse(const char *text, struct listen_address *ret, char **ret_error);

/* A socket that listens. A Unix socket's file is known by device and inode. */
struct listener {
	int fd;
	char *path;		/* of a Unix socket; else NULL */
	dev_t device;
	ino_t inode;
	char name[128];		/* "http://127.0.0.1:43211" (with the port that was chosen), "unix:/path" */
};

/*
 * Listen there. The file of a Unix socket at which nobody listens any more is replaced; the new one is for
 * the daemon's own user and group (0660).
 *
 * Returns  0; -EADDRINUSE, -EEXIST (something else stands there), other negative errno; with message
 */
int listener_open(const struct listen_address *address, struct listener *ret, char **ret_error);

/* One of a socket that listens already, and was inherited: it is named by its address; a file stays. */
struct listener listener_inherited(int fd);

/*
 * Close, and remove the file if it is still ours. A zeroed one, or one with fd -1 (somebody else closed it),
 * is fine.
 */
void listener_close(struct listener *listener);

#endif
