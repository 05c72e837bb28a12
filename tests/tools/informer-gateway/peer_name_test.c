/* SPDX-License-Identifier: Apache-2.0 */
/* A peer's URL is scheme, host and port alone, and each of its addresses makes one again. */
#include "tests/room.h"
#include "tools/informer-gateway/peer_name.h"
#include "writer/base/message.h"

static void
says(const char *url, const char *scheme, const char *host, const char *port, bool numeric)
{
	struct gw_peer_name name;

	assert_int_equal(gw_peer_name_parse(url, &name, NULL), 0);
	assert_string_equal(name.scheme, scheme);
	assert_string_equal(name.host, host);
	assert_string_equal(name.port, port);
	assert_int_equal(name.numeric, numeric);
	gw_peer_name_done(&name);
}

TEST_CASE(urls_are_taken_apart)
{
	says("https://relays.informer.svc:8443", "https", "relays.informer.svc", "8443", false);
	says("https://relays", "https", "relays", "443", false);
	says("http://127.0.0.1:81/", "http", "127.0.0.1", "81", true);
	says("https://[fd00::7]:8443", "https", "fd00::7", "8443", true);
}

TEST_CASE(what_is_more_or_less_is_refused)
{
	static const char *const wrong[] = {"",		     "relays:8443",	 "ftp://relays",
					    "https://",	     "https://a/path",	 "https://u@relays",
					    "https://a?b=c", "https://a:99999", "https://u:p@a"};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct gw_peer_name name;
		char *error = NULL;

		if (gw_peer_name_parse(wrong[i], &name, &error) == 0)
			fail_msg("taken: %s", wrong[i]);
		assert_non_null(strstr(error, wrong[i]));
		message_freep(&error);
	}
}

TEST_CASE(addresses_make_urls)
{
	static const struct {
		const char *url, *address;
	} both[] = {{"http://127.0.0.1:81", "http://127.0.0.1:81"},
		    {"https://[fd00::7]", "https://[fd00::7]:443"}};

	for (size_t i = 0; i < 2; i++) {
		const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM};
		struct gw_peer_name name;
		struct addrinfo *found;
		char url[GW_PEER_URL_MAX];

		assert_int_equal(gw_peer_name_parse(both[i].url, &name, NULL), 0);
		assert_int_equal(getaddrinfo(name.host, name.port, &hints, &found), 0);
		assert_true(gw_peer_url(&name, found, url));
		assert_string_equal(url, both[i].address);
		freeaddrinfo(found);
		gw_peer_name_done(&name);
	}
}
