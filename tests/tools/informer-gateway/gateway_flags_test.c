/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, alone and beside a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "tools/informer-gateway/gateway_flags.h"
#include "writer/base/message.h"

static int
parse(char *const *argv, struct gw_config *config, char **ret_error)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return gw_flags_parse(argc, argv, stdout, config, ret_error);
}
#define WORDS(...) ((char *const[]){(char[]){"informer-gateway"}, __VA_ARGS__, NULL})
#define W(text) ((char[]){text})

/* Everything of one listener can be said by flags. */
static void
one_listener_is_said_by_flags(void **state)
{
	struct gw_config config;
	const struct gw_listener_config *l;

	(void)state;
	assert_int_equal(
		parse(WORDS(W("--listen"), W("unix:/run/g.sock"), W("--allow-uid=0"), W("--allow-uid=7"),
			    W("--allow"), W("pods?namespaces=web"), W("--allow=/metrics"), W("--mode=0600"),
			    W("--misses=ask"), W("--deleted-for=60s"), W("--inherit-fd=5"), W("--server"),
			    W("https://x"), W("--as-group=a"), W("--history=1Mi"), W("--audit-log=-")),
		      &config, NULL),
		0);
	l = &config.listeners[0];
	assert_string_equal(l->name, "unix:/run/g.sock");
	assert_int_equal(l->uids.count, 2);
	assert_int_equal(l->scope.count, 2);
	assert_int_equal(l->mode, 0600);
	assert_int_equal(l->inherit_fd, 5);
	assert_true(l->misses_ask);
	assert_int_equal(l->deleted_for_ms, 60000);
	assert_string_equal(config.server.server, "https://x");
	assert_string_equal(config.audit.file, "-");
	assert_int_equal(config.history_bytes, 1 << 20);
	gw_config_done(&config);
}

static const char file[] = "listeners: [{listen: '127.0.0.1:1', profile: insecure-loopback, scope: [pods]}]\n"
			   "server: https://file\n"
			   "context: of-file\n"
			   "asGroups: [f, g]\n"
			   "access: {keepAllowed: 1m}\n"
			   "relays: {peers: ['https://a', 'https://b'], grace: 5s,\n"
			   "  certificateAuthority: ca.pem}\n"
			   "drain: 5s\n";

/* Beside a file flags count, and what they do not say the file does. */
static void
flags_count_beside_a_file(void **state)
{
	char path[256];
	struct gw_config config;

	snprintf(path, sizeof(path), "%s", temp_file(*state, "g.yaml", file));
	assert_int_equal(parse(WORDS(W("--server=https://flag"), W("--config"), path, W("--as-group=x"),
				     W("--drain=9s"), W("--context="), W("--peer=https://c:1")),
			       &config, NULL),
			 0);
	assert_string_equal(config.server.server, "https://flag");
	assert_string_equal(config.server.context, "of-file");
	assert_int_equal(config.server.n_as_groups, 1);
	assert_string_equal(config.server.as_groups[0], "x");
	assert_int_equal(config.drain_ms, 9000);
	assert_int_equal(config.access.keep_allowed_ms, 60000);
	assert_int_equal(config.relays.peers.count, 1);
	assert_string_equal(config.relays.peers.items[0], "https://c:1");
	assert_int_equal(config.relays.grace_ms, 5000);
	assert_int_equal(*config.relays.certificate_authority, '/'); /* beside the file */
	assert_int_equal(config.listener_count, 1);
	gw_config_done(&config);
}

/* What is said of peers must be whole: a certificate with its key, files for somebody, URLs that are some. */
static void
peers_are_whole(void **state)
{
	static const struct {
		const char *flags[3], *error;
	} wrong[] = {
		{{"--peer=relays:8443"}, "'relays:8443' is no URL of a peer"},
		{{"--peer=https://a", "--peer-cert=x"}, "for peers there is a certificate without its key"},
		{{"--peer-ca=x"}, "files for peers, and no peer"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		_cleanup_(message_freep) char *error = NULL;
		char *words[] = {W("informer-gateway"),
				 W("--listen=unix:/g"),
				 W("--allow-uid=0"),
				 W("--allow=pods"),
				 (char *)(uintptr_t)wrong[i].flags[0],
				 (char *)(uintptr_t)wrong[i].flags[1],
				 NULL};
		struct gw_config config;

		assert_true(parse(words, &config, &error) < 0);
		assert_non_null(strstr(error, wrong[i].error));
	}
}

/* A listener in flags beside a file would be one more, or another: neither is guessed. */
static void
a_file_and_a_listener_do_not_go_together(void **state)
{
	_cleanup_(message_freep) char *error = NULL;
	char path[256];
	struct gw_config config;

	snprintf(path, sizeof(path), "%s", temp_file(*state, "g.yaml", file));
	assert_true(parse(WORDS(W("--config"), path, W("--allow=pods")), &config, &error) < 0);
	assert_string_equal(error, "listeners stand in the file of --config, or one in flags; not both");
}

/* Help has each flag; nothing is started. */
static void
help_is_told(void **state)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	struct gw_config config;

	(void)state;
	assert_int_equal(gw_flags_parse(2, (char *const[]){W("informer-gateway"), W("--help"), NULL}, out,
					&config, NULL),
			 1);
	fclose(out);
	assert_non_null(strstr(text, "--insecure-loopback"));
	assert_non_null(strstr(text, "--audit-log"));
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_dir_setup, temp_dir_teardown)

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(one_listener_is_said_by_flags),
	TEST(flags_count_beside_a_file),
	TEST(a_file_and_a_listener_do_not_go_together),
	cmocka_unit_test(peers_are_whole),
	cmocka_unit_test(help_is_told),
};
TEST_GROUP(tests, NULL, NULL);
