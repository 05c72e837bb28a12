/* SPDX-License-Identifier: Apache-2.0 */
/* Which of a listener's names a client certificate has. */
#include "tests/room.h"
#include "tools/informer-gateway/access/client_names.h"

static const char *
find(const char *wanted, const char *common_name, char **names)
{
	struct gw_certificate certificate = {
		.common_name = strdup(common_name), .expires_s = 1000, .names = names};
	static struct gw_texts list;
	const char *found;

	gw_texts_done(&list);
	gw_texts_add(&list, "never");
	gw_texts_add(&list, wanted);
	found = gw_client_name(&certificate, &list, 999);
	free(certificate.common_name);
	return found;
}

/* A name matches the whole common name or a whole DNS name. A name with a kind matches that kind alone. */
TEST_CASE(names_are_compared_whole)
{
	char *names[] = {(char[]){"dns:relay-1.example"}, (char[]){"uri:spiffe://x/relay"},
			 (char[]){"email:a@b"}, NULL};
	char *none[] = {NULL};

	assert_string_equal(find("relay", "relay", none), "relay");
	assert_string_equal(find("relay-1.example", "relay", names), "relay-1.example");
	assert_string_equal(find("dns:relay-1.example", "", names), "dns:relay-1.example");
	assert_string_equal(find("uri:spiffe://x/relay", "", names), "uri:spiffe://x/relay");
	assert_null(find("rela", "relay", names));
	assert_null(find("relay-", "relay", names));
	assert_null(find("RELAY", "relay", names));
	assert_null(find("*.example", "relay", names));
	assert_null(find("spiffe://x/relay", "", names));
	assert_null(find("a@b", "", names));
	assert_null(find("uri:relay-1.example", "", names));
	assert_null(find("dns:relay", "dns:relay", none)); /* a common name has no kind */
	assert_null(find("", "", none));
}

/* A missing or expired certificate has no name, also if the connection goes on. */
TEST_CASE(without_a_valid_certificate_there_is_no_name)
{
	struct gw_certificate certificate = {.common_name = (char[]){"relay"}, .expires_s = 1000};
	struct gw_texts list = {0};

	gw_texts_add(&list, "relay");
	assert_non_null(gw_client_name(&certificate, &list, 999));
	assert_null(gw_client_name(&certificate, &list, 1000));
	assert_null(gw_client_name(NULL, &list, 0));
	gw_texts_done(&list);
}
