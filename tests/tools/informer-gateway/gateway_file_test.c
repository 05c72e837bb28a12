/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration file: listeners, and who may. */
#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "tools/informer-gateway/config/gateway_file.h"
#include "writer/base/message.h"

static char *
load(void **state, const char *text, struct gw_config *config)
{
	char *error = NULL;
	const char *path = temp_file(*state, "gateway.yaml", text);

	gw_config_init(config);
	if (gw_config_load(path, config, &error) == 0)
		(void)gw_config_check(config, &error);
	return error;
}

/* Refused in words that end so. */
static void
assert_refused(void **state, const char *text, const char *words)
{
	struct gw_config config;
	char *error = load(state, text, &config);

	if (!error || !strstr(error, words))
		fail_msg("%s\nis refused in other words: %s", text, error ? error : "(taken)");
	free(error);
	gw_config_done(&config);
}

static const char whole[] =
	"socket: /run/informer/informer.sock\n"
	"server: https://10.0.0.1:6443\n"
	"asGroups: [a, b]\n"
	"listeners:\n"
	"- name: node\n"
	"  listen: unix:/run/informer/gateway.sock\n"
	"  profile: unix\n"
	"  mode: \"0666\"\n"
	"  uids: [0, \"1000\", root]\n"
	"  gids: [4]\n"
	"  scope:\n"
	"  - resources: [pods, namespaces]\n"
	"    namespaces: [web]\n"
	"    verbs: [get, watch]\n"
	"  - paths: [/metrics]\n"
	"  - nodes?verbs=get\n"
	"  misses: wait\n"
	"  deletedFor: 60s\n"
	"- listen: 0.0.0.0:8443\n"
	"  profile: tokens\n"
	"  certificate: tls.crt\n"
	"  key: /etc/tls.key\n"
	"  audiences: [informer-gateway]\n"
	"  freshness: strict\n"
	"  passThrough: true\n"
	"  openHealth: true\n"
	"- listen: '[::]:8444'\n"
	"  profile: certificates\n"
	"  certificate: tls.crt\n"
	"  key: tls.key\n"
	"  clientCA: ca.crt\n"
	"  clientNames: [relay-1, \"uri:spiffe://x/y\"]\n"
	"  scope: [\"*\"]\n"
	"- {listen: \"127.0.0.1:0\", profile: insecure-loopback, scope: [pods]}\n"
	"limits: {connections: 500, watchesByIdentity: 7, headerTimeout: 5s, bodyBytes: 1Mi}\n"
	"access: {keepAllowed: 5m, keepRefused: 20s, reviewTimeout: 3s, decisions: 1000}\n"
	"audit: {file: audit.log}\n"
	"history: 1Gi\n"
	"memory: 64Mi\n"
	"drain: 1m\n"
	"logLevel: debug\n";

#define TEST(name) TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, name)

/* Each word goes where it belongs; paths are the file's neighbours. */
TEST(a_whole_file_is_read)
{
	struct gw_config config;
	const struct gw_listener_config *l;
	char *error = load(state, whole, &config);

	if (error)
		fail_msg("%s", error);
	assert_int_equal(config.listener_count, 4);
	l = &config.listeners[0];
	assert_string_equal(l->name, "node");
	assert_int_equal(l->mode, 0666);
	assert_int_equal(l->uids.count, 3);
	assert_true(account_has(&l->uids, 1000));
	assert_true(account_has(&l->gids, 4));
	assert_int_equal(l->scope.count, 3);
	assert_string_equal(l->scope.rules[0].verbs.items[1], "watch");
	assert_string_equal(l->scope.rules[1].paths.items[0], "/metrics");
	assert_true(l->misses_wait);
	assert_int_equal(l->deleted_for_ms, 60000);
	l = &config.listeners[1];
	assert_string_equal(l->name, "0.0.0.0:8443");
	assert_string_equal(l->certificate, temp_path(*state, "tls.crt"));
	assert_string_equal(l->key, "/etc/tls.key");
	assert_true(l->pass_through && l->open_health);
	assert_true(l->strict);
	l = &config.listeners[2];
	assert_int_equal(l->client_names.count, 2);
	assert_int_equal(config.limits.connections, 500);
	assert_int_equal(config.limits.watches_by_identity, 7);
	assert_int_equal(config.limits.requests_by_identity, 256); /* not said */
	assert_int_equal(config.limits.header_timeout_ms, 5000);
	assert_int_equal(config.access.keep_allowed_ms, 300000);
	assert_int_equal(config.access.review_timeout_ms, 3000);
	assert_string_equal(config.audit_file, temp_path(*state, "audit.log"));
	assert_int_equal(config.history_bytes, UINT64_C(1) << 30);
	assert_int_equal(config.memory_bytes, 64 << 20);
	assert_int_equal(config.drain_ms, 60000);
	assert_int_equal(config.log_level, LOG_LEVEL_DEBUG);
	assert_int_equal(config.server.n_as_groups, 2);
	gw_config_done(&config);
}

/* What is not known is refused with its line, and with the word that was meant. */
TEST(unknown_words_are_refused)
{
	assert_refused(state, "listener: []\n", ":1:1: unknown field 'listener'; did you mean listeners?");
	assert_refused(state, "listeners:\n- listen: 127.0.0.1:1\n  uid: [1]\n",
		       ":3:3: unknown field 'uid'; did you mean uids?");
	assert_refused(state, "listeners:\n- scope:\n  - resource: [pods]\n",
		       ":3:5: unknown field 'resource'; did you mean resources?");
	assert_refused(state, "access: {keepalowed: 1m}\n", "did you mean keepAllowed?");
}

/* Values have their bounds; what lies outside is refused, not bent. */
TEST(bounds_are_kept)
{
	assert_refused(state, "memory: 15Mi\n", "must be a size of at least 16Mi");
	assert_refused(state, "drain: 11m\n", "is not a time from 0s to 10m");
	assert_refused(state, "access: {keepAllowed: 6m}\n", "is not a time from 10s to 5m");
	assert_refused(state, "access: {keepAllowed: 9s}\n", "is not a time from 10s to 5m");
	assert_refused(state, "access: {keepRefused: 500ms}\n", "is not a time from 1s to 5m");
	assert_refused(state, "access: {reviewTimeout: 31s}\n", "is not a time from 1s to 30s");
	assert_refused(state,
		       "listeners: [{listen: ':1', profile: tokens, certificate: a, key: b}]\n"
		       "access: {keepAllowed: 10s, keepRefused: 20s}\n",
		       "refusals may not be kept for longer");
	assert_refused(state, "listeners: [{listen: ':1', freshness: never}]\n",
		       "freshness must be cache or strict");
	assert_refused(state,
		       "listeners: [{listen: '127.0.0.1:1', profile: insecure-loopback, scope: [pods],\n"
		       "  passThrough: true}]\n",
		       "passThrough does not belong");
	assert_refused(state,
		       "listeners: [{listen: '127.0.0.1:1', profile: insecure-loopback, scope: [pods],\n"
		       "   inheritFd: 3},\n"
		       "  {listen: '127.0.0.1:2', profile: insecure-loopback, scope: [pods],\n"
		       "   inheritFd: 3}]\n",
		       "two listeners inherit descriptor 3");
	assert_refused(state, "limits: {connections: 0}\n", "must be a whole number from 1");
	assert_refused(state, "goawayChance: 0.03\n", "goawayChance must be a number from 0 to 0.02");
	assert_refused(state, "goawayChance: -1\n", "goawayChance must be a number from 0 to 0.02");
	assert_refused(state, "goawayChance: often\n", "goawayChance must be a number from 0 to 0.02");
	assert_refused(state, "listeners:\n- {listen: 'unix:/s', mode: '0888'}\n", "is no mode of a file");
	assert_refused(state, "listeners:\n- {listen: 'unix:/s', uids: [nobody-here-of-that-name]}\n",
		       "there is no user 'nobody-here-of-that-name' here");
	assert_refused(state, "listeners:\n- {listen: 'unix:/s', uids: [-1]}\n", "must be a whole number");
	assert_refused(state, "listeners:\n- {listen: 'unix:/s', uids: [4294967295]}\n",
		       "must be a whole number");
	assert_refused(state, "listeners:\n- {listen: a, scope: [{resources: []}]}\n",
		       "must be a list of resources");
	assert_refused(state, "listeners:\n- {listen: a, scope: [{verbs: [get]}]}\n",
		       "this rule has no 'resources'");
	assert_refused(state, "listeners:\n- {listen: a, scope: [{resources: [pods], namespaces: []}]}\n",
		       "must be a list of namespaces");
	assert_refused(state, "listeners:\n- {listen: a, scope: [{resources: [pods], paths: [/metrics]}]}\n",
		       "paths stand in a rule of their own");
	assert_refused(state, "listeners:\n- {listen: a, misses: ask}\n", "must be refuse or wait");
	assert_refused(state, "listeners:\n- {profile: tokens}\n", "this listener has no address (listen)");
}

/* A file that is not there is said. */
TEST(no_file_is_said)
{
	_cleanup_(message_freep) char *error = NULL;
	struct gw_config config;

	gw_config_init(&config);
	assert_true(gw_config_load(temp_path(*state, "none"), &config, &error) < 0);
	assert_non_null(strstr(error, "No such file"));
	gw_config_done(&config);
}
