/* SPDX-License-Identifier: Apache-2.0 */
/* The socket nobody named. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/room.h"
#include "writer/config/default_socket.h"

/* The socket nobody named is $INFORMER_SOCKET, else the system's or the user's own. */
TEST_CASE(the_default_socket_follows_the_environment)
{
	char *path;

	setenv("INFORMER_SOCKET", "/x/y.sock", 1);
	path = default_socket();
	assert_string_equal(path, "/x/y.sock");
	free(path);
	unsetenv("INFORMER_SOCKET");
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	path = default_socket();
	assert_string_equal(path, geteuid() == 0 ? "/run/informer/informer.sock"
						 : "/run/user/7/informer/informer.sock");
	free(path);
}
