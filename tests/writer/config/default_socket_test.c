/* SPDX-License-Identifier: Apache-2.0 */
/* The socket nobody named. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/room.h"
#include "writer/config/default_socket.h"

/* The socket nobody named is $INFORMER_SOCKET, else the system's or the user's own. */
static void
the_default_socket_follows_the_environment(void **state)
{
	char *path;

	(void)state;
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

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(the_default_socket_follows_the_environment),
};
TEST_GROUP(tests, NULL, NULL);
