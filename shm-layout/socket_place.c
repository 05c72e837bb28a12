/* SPDX-License-Identifier: Apache-2.0 */
/* The places of informerd's socket; see socket_place.h. */
#include "shm-layout/socket_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int
socket_place_set(struct socket_place *ret, const char *path)
{
	size_t length = strlen(path);

	*ret = (struct socket_place){.address.sun_family = AF_UNIX};
	if (length == 0)
		return -EINVAL;
	if (length >= sizeof(ret->address.sun_path))
		return -ENAMETOOLONG;
	memcpy(ret->address.sun_path, path, length);
	return 0;
}

static bool
is_ours(const char *directory)
{
	struct stat st;

	return lstat(directory, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* A directory that only this user can write. False: there is none. */
static bool
own_directory(char *ret, size_t size)
{
	const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
	unsigned uid = geteuid();

	if (runtime && *runtime == '/')
		return (size_t)snprintf(ret, size, "%s/informer", runtime) < size;
	snprintf(ret, size, "/run/user/%u", uid);
	if (is_ours(ret)) {
		snprintf(ret, size, "/run/user/%u/informer", uid);
		return true;
	}
	snprintf(ret, size, "/tmp/informer-%u", uid);
	return is_ours(ret) || access(ret, F_OK) < 0;
}

int
socket_places_find(struct socket_place ret[SOCKET_PLACES])
{
	const char *named = secure_getenv("INFORMER_SOCKET");
	char directory[sizeof(ret->address.sun_path)], path[sizeof(directory) + sizeof("/informer.sock")];
	int r, count = 0;

	if (named && *named) {
		r = socket_place_set(&ret[0], named);
		return r < 0 ? r : 1;
	}
	if (geteuid() != 0 && own_directory(directory, sizeof(directory))) {
		snprintf(path, sizeof(path), "%s/informer.sock", directory);
		if (socket_place_set(&ret[0], path) == 0)
			ret[count++].own = true;
	}
	socket_place_set(&ret[count], SOCKET_OF_SYSTEM);
	return count + 1;
}
