/* SPDX-License-Identifier: Apache-2.0 */
/* Where an HTTP server of ours listens; see listen_address.h. */
#include "writer/base/listen_address.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "writer/base/message.h"
#include "writer/base/number.h"

#define BACKLOG 64
#define SOCKET_MODE 0660
#define SYNTAX "write it as 127.0.0.1:9090, [::1]:9090, :9090 or unix:/PATH"

static int
parse_unix(const char *path, struct listen_address *ret, char **ret_error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (*path != '/')
		return message_set(
			ret_error, -EINVAL,
			"'unix:%s': the path must be absolute, as in unix:/run/informer/metrics.sock", path);
	if (strlen(path) >= sizeof(address.sun_path))
		return message_set(ret_error, -EINVAL,
				   "the socket's path is too long (%zu bytes, the system allows %zu): %s",
				   strlen(path), sizeof(address.sun_path) - 1, path);
	memcpy(address.sun_path, path, strlen(path) + 1);
	memcpy(&ret->address, &address, sizeof(address));
	ret->length = sizeof(address);
	return 0;
}

int
listen_address_parse(const char *text, struct listen_address *ret, char **ret_error)
{
	struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
				 .ai_socktype = SOCK_STREAM},
			*found;
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	bool brackets;
	uint64_t port;
	size_t length;
	int r;

	*ret = (struct listen_address){0};
	if (strncmp(text, "unix:", 5) == 0)
		return parse_unix(text + 5, ret, ret_error);
	length = colon ? (size_t)(colon - text) : 0;
	if (!colon || length >= sizeof(host))
		return message_set(ret_error, -EINVAL, "'%s' is no address; " SYNTAX, text);
	if (number_parse(colon + 1, 65535, &port, NULL) < 0)
		return message_set(ret_error, -EINVAL, "'%s' has no port between 0 and 65535; " SYNTAX, text);
	brackets = length >= 2 && text[0] == '[' && text[length - 1] == ']';
	snprintf(host, sizeof(host), "%.*s", (int)(brackets ? length - 2 : length), text + brackets);
	hints.ai_family = brackets || length == 0 ? AF_INET6 : AF_INET;
	r = getaddrinfo(length > 0 ? host : NULL, colon + 1, &hints, &found);
	if (r == EAI_MEMORY)
		return -ENOMEM;
	if (r != 0)
		return message_set(ret_error, -EINVAL,
				   "'%s' is no IP address with a port (names are not looked up); " SYNTAX,
				   text);
	memcpy(&ret->address, found->ai_addr, found->ai_addrlen);
	ret->length = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

/* ---- listening ---- */

/* "http://127.0.0.1:43211", "unix:/path" */
static void
set_name(struct listener *l, const struct sockaddr_storage *address, socklen_t length)
{
	char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "0";

	if (address->ss_family == AF_UNIX) {
		const struct sockaddr_un *un = (const void *)address;

		snprintf(l->name, sizeof(l->name), "unix:%.*s", (int)sizeof(un->sun_path), un->sun_path);
		return;
	}
	getnameinfo((const struct sockaddr *)address, length, host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(l->name, sizeof(l->name),
		 address->ss_family == AF_INET6 ? "http://[%.64s]:%s" : "http://%.64s:%s", host, port);
}

/* Name the listener by its real address. */
static void
name_socket(struct listener *l)
{
	struct sockaddr_storage address = {0};
	socklen_t length = sizeof(address);

	getsockname(l->fd, (struct sockaddr *)&address, &length);
	set_name(l, &address, length);
}

/* Remove the socket of a dead predecessor, and nothing else. */
static int
remove_stale(const struct sockaddr_un *address, char **ret_error)
{
	struct stat st;
	int fd, r;

	if (lstat(address->sun_path, &st) < 0)
		return errno == ENOENT ? 0
				       : message_set(ret_error, -errno, "cannot look at %s: %s",
						     address->sun_path, strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return message_set(ret_error, -EEXIST,
				   "%s exists and is no socket: remove it, or choose another path",
				   address->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return message_set(ret_error, -errno, "cannot make a socket: %s", strerror(errno));
	r = connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 ? -errno : 0;
	close(fd);
	if (r != -ECONNREFUSED && r != -ENOENT)
		return message_set(ret_error, -EADDRINUSE, "another program listens on %s",
				   address->sun_path);
	if (unlink(address->sun_path) < 0 && errno != ENOENT)
		return message_set(ret_error, -errno, "cannot replace the old socket %s: %s",
				   address->sun_path, strerror(errno));
	return 0;
}

static int
open_unix(const struct listen_address *where, struct listener *l, char **ret_error)
{
	struct sockaddr_un address;
	struct stat st;
	int r;

	memcpy(&address, &where->address, sizeof(address));
	r = remove_stale(&address, ret_error);
	if (r < 0)
		return r;
	if (bind(l->fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return message_set(ret_error, -errno, "cannot make the socket %s: %s", address.sun_path,
				   strerror(errno));
	l->path = strdup(address.sun_path);
	if (!l->path) {
		unlink(address.sun_path);
		return -ENOMEM;
	}
	/* No process can connect before listen(), so none meets the mode that the umask gave. */
	if (chmod(l->path, SOCKET_MODE) < 0 || lstat(l->path, &st) < 0)
		return message_set(ret_error, -errno, "cannot use the socket %s: %s", l->path,
				   strerror(errno));
	l->device = st.st_dev;
	l->inode = st.st_ino;
	snprintf(l->name, sizeof(l->name), "unix:%s", l->path);
	return 0;
}

static int
open_inet(const struct listen_address *where, struct listener *l, char **ret_error)
{
	int on = 1, off = 0, r;

	setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (where->address.ss_family == AF_INET6) /* :9090 is for IPv4 as well */
		setsockopt(l->fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(l->fd, (const struct sockaddr *)&where->address, where->length) == 0)
		return 0;
	r = -errno;
	set_name(l, &where->address, where->length);
	return message_set(ret_error, r, "cannot listen at %s: %s", l->name, strerror(-r));
}

int
listener_open(const struct listen_address *address, struct listener *ret, char **ret_error)
{
	bool is_unix = address->address.ss_family == AF_UNIX;
	struct listener l = {.fd = -1};
	int r;

	l.fd = socket(address->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l.fd < 0)
		return message_set(ret_error, -errno, "cannot make a socket: %s", strerror(errno));
	r = is_unix ? open_unix(address, &l, ret_error) : open_inet(address, &l, ret_error);
	if (r == 0 && listen(l.fd, BACKLOG) < 0)
		r = message_set(ret_error, -errno, "cannot listen: %s", strerror(errno));
	if (r < 0) {
		listener_close(&l);
		return r;
	}
	if (!is_unix)
		name_socket(&l);
	*ret = l;
	return 0;
}

struct listener
listener_inherited(int fd)
{
	struct listener l = {.fd = fd};

	name_socket(&l);
	return l;
}

void
listener_close(struct listener *listener)
{
	struct stat st;

	if (listener->path && lstat(listener->path, &st) == 0 && st.st_dev == listener->device &&
	    st.st_ino == listener->inode)
		unlink(listener->path);
	if (listener->fd > 0)
		close(listener->fd);
	free(listener->path);
	*listener = (struct listener){.fd = -1};
}
