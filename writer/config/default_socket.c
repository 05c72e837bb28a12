/* SPDX-License-Identifier: Apache-2.0 */
/* The default socket; see default_socket.h. */
#include "writer/config/default_socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *
default_socket(void)
{
	const char *named = getenv("INFORMER_SOCKET"), *runtime = getenv("XDG_RUNTIME_DIR");
	char *path;

	if (named && *named)
		return strdup(named);
	if (geteuid() != 0 && runtime && *runtime)
		return asprintf(&path, "%s/informer/informer.sock", runtime) < 0 ? NULL : path;
	return strdup("/run/informer/informer.sock");
}
