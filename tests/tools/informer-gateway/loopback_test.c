/* SPDX-License-Identifier: Apache-2.0 */
/* Which sockets, addresses and Host headers mean this machine. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "tests/room.h"
#include "tools/informer-gateway/http/loopback.h"

static bool
is_bound_to_loopback(const char *text)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is;

	assert_int_equal(inet_pton(AF_INET, text, &address.sin_addr), 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	is = gw_loopback_socket(fd);
	close(fd);
	return is;
}

TEST_CASE(a_loopback_socket_is_recognized)
{
	assert_true(is_bound_to_loopback("127.0.0.1"));
	assert_false(is_bound_to_loopback("0.0.0.0"));
	assert_false(gw_loopback_socket(-1));
}

TEST_CASE(a_loopback_address_is_recognized)
{
	struct sockaddr_storage address = {.ss_family = AF_INET6};
	struct sockaddr_in6 *v6 = (void *)&address;

	assert_false(gw_loopback_address(&address));
	v6->sin6_addr = in6addr_loopback;
	assert_true(gw_loopback_address(&address));
	address.ss_family = AF_UNIX;
	assert_false(gw_loopback_address(&address));
}

TEST_CASE(a_loopback_host_is_recognized)
{
	static const char *const good[] = {
		"localhost", "LocalHost:8080", "127.0.0.1",         "127.0.0.1:80",
		"[::1]",     "[::1]:8080",     "[0:0:0:0:0:0:0:1]",
	};
	static const char *const bad[] = {
		"",
		"example.com",
		"127.0.0.2",
		"localhost.example.com",
		"10.0.0.7:80",
		"127.0.0.1.example.com",
		"[::2]:80",
		"[::1",
		"[::1].example.com",
		"localhost:80.example.com",
		"localhost@example.com:80",
		"a-name-longer-than-any-address-that-there-may-be.example.com",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!gw_loopback_host(good[i]))
			fail_msg("%s is refused", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (gw_loopback_host(bad[i]))
			fail_msg("'%s' is taken for this machine", bad[i]);
	assert_false(gw_loopback_host(NULL));
}
