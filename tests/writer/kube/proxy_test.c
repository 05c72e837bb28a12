/* SPDX-License-Identifier: Apache-2.0 */
/* Which proxy is used for a server. */
#include "tests/room.h"
#include "writer/kube/proxy.h"

static const char *upper, *lower, *none, *plain;

static void
set(const char *name, const char *value)
{
	if (value)
		setenv(name, value, 1);
	else
		unsetenv(name);
}

static void
assert_proxy(const char *server, const char *explicit_url, const char *expected)
{
	char *proxy;

	set("HTTPS_PROXY", upper);
	set("https_proxy", lower);
	set("HTTP_PROXY", plain);
	set("http_proxy", NULL);
	set("NO_PROXY", none);
	set("no_proxy", NULL);
	set("ALL_PROXY", "http://never:1");
	assert_int_equal(proxy_for_server(server, explicit_url, &proxy), 0);
	if (!expected)
		assert_null(proxy);
	else
		assert_string_equal(proxy, expected);
	free(proxy);
}

/* The kubeconfig's proxy-url is used for every server, also on this machine. */
TEST_CASE(the_kubeconfigs_proxy_always_counts)
{
	upper = "http://env:1";
	lower = plain = NULL;
	none = "*";
	assert_proxy("https://api:6443", "http://u:p@mine:3128", "http://u:p@mine:3128");
	assert_proxy("https://127.0.0.1:6443", "http://mine:3128", "http://mine:3128");
	assert_proxy("https://api:6443", "socks5://mine:1080", "socks5h://mine:1080");
}

/* HTTPS_PROXY is for https, capitals go before small letters, ALL_PROXY is ignored, a scheme is optional. */
TEST_CASE(the_environments_proxy_goes_by_scheme)
{
	upper = lower = none = plain = NULL;
	assert_proxy("https://api:6443", NULL, NULL);
	lower = "http://low:1";
	assert_proxy("https://api:6443", NULL, "http://low:1");
	assert_proxy("http://api:8080", NULL, NULL);
	upper = "up:2";
	assert_proxy("https://api:6443", NULL, "http://up:2");
	plain = "socks5://plain:3";
	assert_proxy("http://api:8080", NULL, "socks5h://plain:3");
}

/* Servers on this machine, and servers in NO_PROXY, are reached without the environment's proxy. */
TEST_CASE(excluded_servers_are_reached_directly)
{
	upper = "http://up:2";
	lower = plain = none = NULL;
	assert_proxy("https://localhost:6443", NULL, NULL);
	assert_proxy("https://127.9.9.9:6443", NULL, NULL);
	assert_proxy("https://[::1]:6443", NULL, NULL);
	none = "10.0.0.0/8,example.com";
	assert_proxy("https://10.9.8.7:6443/prefix", NULL, NULL);
	assert_proxy("https://api.example.com", NULL, NULL);
	assert_proxy("https://[fd00::1]:6443", NULL, "http://up:2");
}

#define GOS                                                                                                  \
	"foobar.com, .barbaz.net, *.wildcard.io, 192.168.1.1, 192.168.1.2:81, 192.168.1.3:80, 10.0.0.0/30, " \
	"2001:db8::52:0:1, [2001:db8::52:0:2]:443, [2001:db8::52:0:3]:80, 2002:db8:a::45/64"

/* NO_PROXY means what it means for Go: the table of golang.org/x/net/http/httpproxy's tests, and more. */
TEST_CASE(no_proxy_means_what_it_means_for_go)
{
	static const struct {
		const char *no_proxy, *port;
		bool excluded;
		const char *hosts;
	} cases[] = {
		{GOS, "80", true,
		 "localhost 127.0.0.1 127.0.0.2 ::1 192.168.1.1 192.168.1.3 10.0.0.2 2001:db8::52:0:1 "
		 "2001:db8::52:0:3 2002:db8:a::123 www.barbaz.net foobar.com www.foobar.com "
		 "nested.wildcard.io"},
		{GOS, "80", false,
		 "::2 192.168.1.2 192.168.1.4 10.0.0.4 2001:db8::52:0:2 2002:db8:a:1::123 "
		 "fe80::424b:c8be:1643:a1b6 barbaz.net foofoobar.com baz.com localhost.net local.localhost "
		 "barbarbaz.net wildcard.io awildcard.io"},
		{GOS, "81", true, "192.168.1.2"},
		{GOS, "443", true, "2001:db8::52:0:2"},
		{"*", "80", true, "example.com fd00::1"},
		{"example.com:443", "443", true, "example.com"},
		{"example.com:443", "80", false, "example.com"},
		{"EXAMPLE.com", "80", true, "example.COM"},
		{":80,,  ,a", "80", false, "b"},
		{"10.0.0.0/99,/8,::/200,10.0.0.0/8x", "80", false, "10.0.0.1"},
		{"0.0.0.0/0", "80", true, "8.8.8.8"},
		{"0.0.0.0/0", "80", false, "example.com"},
		{"::ffff:10.0.0.1", "80", true, "10.0.0.1"},
		{"[fd00::1]", "80", false, "fd00::1"},
		{"fd00::/7", "80", true, "fd00::1"},
		{"fd00::/7", "80", false, "fa00::1"},
	};
	char hosts[512];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(hosts, sizeof(hosts), "%s", cases[i].hosts);
		for (char *rest = hosts, *host; (host = strtok_r(rest, " ", &rest));)
			if (proxy_is_excluded(cases[i].no_proxy, host, cases[i].port) != cases[i].excluded)
				fail_msg("%s port %s: not %d with NO_PROXY=%s", host, cases[i].port,
					 cases[i].excluded, cases[i].no_proxy);
	}
}

/* proxy-url is http, https or socks5, as for kubectl. */
TEST_CASE(other_proxy_urls_are_not_usable)
{
	assert_true(proxy_url_is_usable("http://proxy:3128"));
	assert_true(proxy_url_is_usable("https://u:p@proxy"));
	assert_true(proxy_url_is_usable("socks5://[::1]:1080"));
	assert_false(proxy_url_is_usable("socks4://proxy:1080"));
	assert_false(proxy_url_is_usable("proxy:3128"));
	assert_false(proxy_url_is_usable("http://"));
	assert_false(proxy_url_is_usable("ftp://proxy"));
}
