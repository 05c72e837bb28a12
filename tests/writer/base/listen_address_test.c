/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of the HTTP server as users write them, and the file of a socket. */
#include <netinet/in.h>
#include <sys/un.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "writer/base/listen_address.h"
#include "writer/base/message.h"

static void
assert_refused(const char *text, const char *message)
{
	_cleanup_(message_freep) char *error = NULL;
	struct listen_address address;

	assert_int_equal(listen_address_parse(text, &address, &error), -EINVAL);
	assert_non_null(error);
	if (!strstr(error, message))
		fail_msg("'%s' is refused with: %s", text, error);
}

TEST_CASE(addresses_are_understood)
{
	struct listen_address a;

	assert_int_equal(listen_address_parse("127.0.0.1:9090", &a, NULL), 0);
	assert_int_equal(a.address.ss_family, AF_INET);
	assert_int_equal(ntohs(((const struct sockaddr_in *)(const void *)&a.address)->sin_port), 9090);
	assert_int_equal(listen_address_parse("[::1]:0", &a, NULL), 0);
	assert_int_equal(a.address.ss_family, AF_INET6);
	assert_int_equal(listen_address_parse(":65535", &a, NULL), 0);
	assert_int_equal(a.address.ss_family, AF_INET6);
	assert_int_equal(listen_address_parse("unix:/run/x.sock", &a, NULL), 0);
	assert_string_equal(((const struct sockaddr_un *)(const void *)&a.address)->sun_path, "/run/x.sock");
}

/* The message says how to write an address. */
TEST_CASE(bad_addresses_are_refused)
{
	char path[256] = "unix:/";

	assert_refused("9090", "write it as 127.0.0.1:9090");
	assert_refused("localhost:80", "names are not looked up");
	assert_refused("127.0.0.1:", "no port");
	assert_refused("127.0.0.1:65536", "no port");
	assert_refused("127.0.0.1:1x", "no port");
	assert_refused("[::g]:1", "no IP address");
	assert_refused("::1:80", "names are not looked up");
	assert_refused("unix:relative", "must be absolute");
	memset(path + 6, 'a', sizeof(path) - 7);
	assert_refused(path, "too long");
	assert_refused("", "write it as");
}

static struct listen_address
unix_at(const char *path)
{
	struct listen_address address;
	char text[200];

	snprintf(text, sizeof(text), "unix:%s", path);
	assert_int_equal(listen_address_parse(text, &address, NULL), 0);
	return address;
}

/* The file of a dead server's socket is replaced; that of a live server, and any other file, is not. */
TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, only_a_dead_socket_is_replaced)
{
	_cleanup_(message_freep) char *error = NULL;
	const char *path = temp_path(*state, "m.sock");
	struct listen_address address = unix_at(path);
	struct listener first, second;
	struct stat st;

	assert_int_equal(listener_open(&address, &first, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	assert_int_equal(listener_open(&address, &second, &error), -EADDRINUSE);
	assert_non_null(strstr(error, "another program listens"));
	close(first.fd); /* the server dies, and its file stays */
	free(first.path);
	assert_int_equal(listener_open(&address, &second, NULL), 0);
	listener_close(&second);
	assert_int_equal(stat(path, &st), -1);
	temp_file(*state, "m.sock", "precious");
	assert_int_equal(listener_open(&address, &second, &error), -EEXIST);
	assert_int_equal(stat(path, &st), 0);
}

/* With port 0 the name has the port that the system chose. */
TEST_CASE(the_name_has_the_port)
{
	struct listen_address address;
	struct listener listener;
	unsigned port = 0;

	assert_int_equal(listen_address_parse("127.0.0.1:0", &address, NULL), 0);
	assert_int_equal(listener_open(&address, &listener, NULL), 0);
	assert_int_equal(sscanf(listener.name, "http://127.0.0.1:%u", &port), 1);
	assert_true(port > 0);
	listener_close(&listener);
	listener_close(&listener);
}

/* An inherited socket is named by its address, and its file is not removed. */
TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, an_inherited_socket_has_its_name)
{
	struct listen_address address = unix_at(temp_path(*state, "m.sock"));
	struct listener made, inherited;
	struct stat st;

	assert_int_equal(listener_open(&address, &made, NULL), 0);
	inherited = listener_inherited(made.fd);
	assert_string_equal(inherited.name, made.name);
	listener_close(&inherited);
	assert_int_equal(stat(made.path, &st), 0);
	made.fd = -1;
	listener_close(&made);
	assert_int_equal(listen_address_parse("[::1]:0", &address, NULL), 0);
	if (listener_open(&address, &made, NULL) < 0)
		return; /* this machine has no IPv6 */
	inherited = listener_inherited(made.fd);
	assert_string_equal(inherited.name, made.name);
	listener_close(&inherited);
}
