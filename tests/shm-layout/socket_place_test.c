/* SPDX-License-Identifier: Apache-2.0 */
/* Where informerd's socket is when no one names it, for root and for a user. */
#include "shm-layout/socket_place.h"

#include <sys/stat.h>

#include "tests/room.h"

/* "PATH (own), PATH" */
static const char *
places(void)
{
	static char text[600];
	struct socket_place found[SOCKET_PLACES];
	int count = socket_places_find(found);

	text[0] = '\0';
	if (count < 0)
		snprintf(text, sizeof(text), "%s", strerror(-count));
	for (int i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s", i > 0 ? ", " : "",
			 found[i].address.sun_path, found[i].own ? " (own)" : "");
	return text;
}

/* What places() says to this user; root goes on as root. */
static const char *
places_of(uid_t user)
{
	const char *text;

	if (geteuid() != 0)
		skip();
	assert_int_equal(seteuid(user), 0);
	text = places();
	assert_int_equal(seteuid(0), 0);
	return text;
}

/* A user that this machine does not have. */
static uid_t
new_user(void)
{
	return 1000000 + (uid_t)getpid();
}

TEST_CASE(a_named_socket_is_the_only_place)
{
	char path[200];

	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	setenv("INFORMER_SOCKET", "/x/y.sock", 1);
	assert_string_equal(places(), "/x/y.sock");
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	setenv("INFORMER_SOCKET", path, 1);
	assert_string_equal(places(), strerror(ENAMETOOLONG));
}

TEST_CASE(root_has_the_systems_place)
{
	unsetenv("INFORMER_SOCKET");
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	assert_string_equal(places_of(0), "/run/informer/informer.sock");
}

TEST_CASE(a_user_has_his_own_place_first)
{
	setenv("INFORMER_SOCKET", "", 1);
	setenv("XDG_RUNTIME_DIR", "/run/user/7", 1);
	assert_string_equal(places_of(new_user()),
			    "/run/user/7/informer/informer.sock (own), /run/informer/informer.sock");
}

/* Without XDG_RUNTIME_DIR, or if that is no absolute path, it is in /tmp, unless that is another user's. */
TEST_CASE(a_user_without_a_runtime_directory_has_a_place_in_tmp)
{
	uid_t user = new_user();
	char directory[64], want[200];

	unsetenv("INFORMER_SOCKET");
	setenv("XDG_RUNTIME_DIR", "run", 1);
	snprintf(directory, sizeof(directory), "/tmp/informer-%u", user);
	snprintf(want, sizeof(want), "%s/informer.sock (own), /run/informer/informer.sock", directory);
	assert_string_equal(places_of(user), want);
	assert_int_equal(mkdir(directory, 0755), 0);
	snprintf(want, sizeof(want), "%s", places_of(user));
	assert_int_equal(rmdir(directory), 0);
	assert_string_equal(want, "/run/informer/informer.sock");
}
