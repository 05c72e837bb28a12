/* SPDX-License-Identifier: Apache-2.0 */
/* The peer of a connection, and which connections count as one client. */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "tests/room.h"
#include "tools/informer-gateway/http/peer.h"

static struct gw_peer
peer_of_v4(const char *text, uint16_t port, bool tls)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct gw_peer peer;

	assert_int_equal(inet_pton(AF_INET, text, &address.sin_addr), 1);
	gw_peer_of_socket(&peer, -1, (struct sockaddr *)&address, sizeof(address), tls);
	return peer;
}

static struct gw_peer
peer_of_v6(const char *text, uint16_t port)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct gw_peer peer;

	assert_int_equal(inet_pton(AF_INET6, text, &address.sin6_addr), 1);
	gw_peer_of_socket(&peer, -1, (struct sockaddr *)&address, sizeof(address), false);
	return peer;
}

TEST_CASE(an_address_is_written_as_people_write_it)
{
	assert_string_equal(peer_of_v4("10.0.0.7", 41234, false).address, "10.0.0.7:41234");
	assert_string_equal(peer_of_v6("fe80::1", 80).address, "[fe80::1]:80");
	assert_string_equal(peer_of_v6("::ffff:10.0.0.7", 80).address, "10.0.0.7:80");
	assert_int_equal(peer_of_v4("10.0.0.7", 1, false).transport, GW_TCP);
	assert_int_equal(peer_of_v4("10.0.0.7", 1, true).transport, GW_TLS);
	assert_false(peer_of_v4("10.0.0.7", 1, true).has_credentials);
}

TEST_CASE(a_unix_socket_has_credentials)
{
	const struct sockaddr address = {.sa_family = AF_UNIX};
	struct gw_peer peer;
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	gw_peer_of_socket(&peer, fds[0], &address, sizeof(address.sa_family), false);
	assert_int_equal(peer.transport, GW_UNIX);
	assert_string_equal(peer.address, "unix");
	assert_true(peer.has_credentials);
	assert_int_equal(peer.uid, getuid());
	assert_int_equal(peer.gid, getgid());
	assert_int_equal(peer.pid, getpid());
	gw_peer_done(&peer);
	close(fds[0]);
	close(fds[1]);
	/* a peer that cannot be asked has no credentials */
	gw_peer_of_socket(&peer, -1, &address, sizeof(address.sa_family), false);
	assert_false(peer.has_credentials);
}

/* An address is one client over all its ports. Each user of a Unix socket is one client. */
TEST_CASE(one_client_has_one_key)
{
	struct gw_peer a = peer_of_v4("10.0.0.7", 1, false), b = peer_of_v4("10.0.0.7", 2, false),
		       c = peer_of_v4("10.0.0.8", 1, false), v6 = peer_of_v6("fe80::1", 1),
		       other_v6 = peer_of_v6("fe80::2", 1),
		       root = {.transport = GW_UNIX, .address = "unix", .has_credentials = true}, user = root;

	user.uid = 1000;
	assert_true(gw_peer_key(&a) == gw_peer_key(&b));
	assert_true(gw_peer_key(&a) != gw_peer_key(&c));
	assert_true(gw_peer_key(&v6) != gw_peer_key(&other_v6));
	assert_true(gw_peer_key(&root) != gw_peer_key(&user));
	user.pid = 7;
	root.uid = 1000;
	assert_true(gw_peer_key(&root) == gw_peer_key(&user));
}
