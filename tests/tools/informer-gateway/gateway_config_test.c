/* SPDX-License-Identifier: Apache-2.0 */
/* What a configuration must be as a whole: deny by default, one profile a listener. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "tests/room.h"
#include "tools/informer-gateway/gateway_config.h"
#include "tools/informer-gateway/gateway_flags.h"
#include "writer/base/message.h"

/* Parse a command line of words; the message where it is refused, else NULL. */
static char *
parse(const char *line, struct gw_config *config)
{
	char *copy = strdup(line), *argv[40] = {(char[]){"informer-gateway"}}, *save = NULL, *error = NULL;
	int argc = 1;

	for (char *word = strtok_r(copy, " ", &save); word && argc < 39; word = strtok_r(NULL, " ", &save))
		argv[argc++] = word;
	if (gw_flags_parse(argc, argv, stdout, config, &error) < 0 && !error)
		error = strdup("(no message)");
	free(copy);
	return error;
}

#define UNIX "--listen unix:/run/g.sock --allow-uid 0 --allow pods"
#define TOKENS "--listen 0.0.0.0:8443 --profile tokens --tls-cert a --tls-key b"
#define CERTIFICATES                                                                                         \
	"--listen :8443 --profile certificates --tls-cert a --tls-key b --client-ca c --client-name d "      \
	"--allow *"
#define PASS "--listen :8443 --profile pass-through --tls-cert a --tls-key b"
#define INSECURE "--listen 127.0.0.1:8001 --insecure-loopback --allow pods"

/* Each profile with what it needs is taken. */
static void
each_profile_has_what_it_needs(void **state)
{
	static const struct {
		const char *line;
		enum gw_profile profile;
	} rows[] = {
		{UNIX, GW_PROFILE_UNIX},
		{"--listen unix:/run/g.sock --allow-gid 0 --allow pods --profile unix --pass-through",
		 GW_PROFILE_UNIX},
		{TOKENS, GW_PROFILE_TOKENS},
		{TOKENS " --allow pods --open-health --pass-through --freshness strict --misses ask",
		 GW_PROFILE_TOKENS},
		{CERTIFICATES, GW_PROFILE_CERTIFICATES},
		{PASS, GW_PROFILE_PASS_THROUGH},
		{INSECURE, GW_PROFILE_INSECURE},
		{"--listen [::1]:8001 --insecure-loopback --allow pods", GW_PROFILE_INSECURE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct gw_config config = {0};
		_cleanup_(message_freep) char *error = parse(rows[i].line, &config);

		if (error)
			fail_msg("%s: %s", rows[i].line, error);
		assert_int_equal(config.listeners[0].profile, rows[i].profile);
		gw_config_done(&config);
	}
}

/* What a profile needs and does not have, or has and another's it is, is refused: nothing is open by an
 * oversight. */
static void
what_is_missing_or_anothers_is_refused(void **state)
{
	static const struct {
		const char *line, *words;
	} rows[] = {
		{"", "there is no listener"},
		{"--listen 127.0.0.1:1", "who may use this listener?"},
		{"--allow pods", "no --listen"},
		{"--listen unix:/s --allow pods", "profile unix needs uids or gids"},
		{"--listen unix:/s --allow-uid 0", "profile unix needs scope"},
		{"--listen 127.0.0.1:1 --profile unix --allow-uid 0 --allow pods", "only a Unix socket"},
		{"--listen unix:/s --profile tokens --tls-cert a --tls-key b", "a Unix socket is not for"},
		{"--listen :1 --profile tokens", "profile tokens needs certificate"},
		{"--listen :1 --profile tokens --tls-cert a", "profile tokens needs key"},
		{TOKENS " --allow-uid 0", "uids or gids does not belong to a listener of profile tokens"},
		{TOKENS " --client-ca c", "clientCA does not belong"},
		{"--listen :1 --profile certificates --tls-cert a --tls-key b --client-ca c --allow *",
		 "profile certificates needs clientNames"},
		{"--listen :1 --profile certificates --tls-cert a --tls-key b --client-name c --allow *",
		 "profile certificates needs clientCA"},
		{"--listen :1 --profile certificates --tls-cert a --tls-key b --client-ca c --client-name d",
		 "profile certificates needs scope"},
		{"--listen :1 --profile pass-through", "needs a certificate and a key"},
		{PASS " --allow pods", "scope does not belong to a listener of profile pass-through"},
		{PASS " --misses ask", "does not belong"},
		{"--listen 127.0.0.1:1 --insecure-loopback", "profile insecure-loopback needs scope"},
		{"--listen 127.0.0.1:1 --insecure-loopback --allow secrets",
		 "secrets are not given to everybody"},
		{"--listen 127.0.0.1:1 --insecure-loopback --allow *,secrets",
		 "secrets are not given to everybody"},
		{"--listen 0.0.0.0:1 --insecure-loopback --allow pods", "for 127.0.0.1 and [::1] alone"},
		{"--listen :1 --insecure-loopback --allow pods", "for 127.0.0.1 and [::1] alone"},
		{"--listen 127.0.0.2:1 --insecure-loopback --allow pods", "for 127.0.0.1 and [::1] alone"},
		{"--listen [::ffff:127.0.0.1]:1 --insecure-loopback --allow pods",
		 "for 127.0.0.1 and [::1] alone"},
		{INSECURE " --pass-through", "passThrough does not belong"},
		{INSECURE " --profile tokens", "the profile is insecure-loopback already"},
		{TOKENS " --insecure-loopback", "the profile is tokens already"},
		{TOKENS " --keep-allowed 10s --keep-refused 20s", "refusals may not be kept for longer"},
		{TOKENS " --audit-log=", "needs a value that is not empty"},
		{TOKENS " --freshness never", "is not cache or strict"},
		{TOKENS " --allow Pods", "is no resource of a scope"},
		{TOKENS " pods", "is no flag"},
		{TOKENS " --lisen x", "did you mean --listen?"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct gw_config config = {0};
		_cleanup_(message_freep) char *error = parse(rows[i].line, &config);

		if (!error || !strstr(error, rows[i].words))
			fail_msg("%s: %s", rows[i].line, error ? error : "(taken)");
	}
}

/* What an insecure listener gives away is said, resource by resource; of the others nothing is. */
static void
what_is_given_away_is_said(void **state)
{
	_cleanup_(message_freep) char *warning = NULL;
	struct gw_config config = {0};

	(void)state;
	assert_null(
		parse("--listen 127.0.0.1:8001 --insecure-loopback --allow pods,services?namespaces=web,db "
		      "--allow nodes --allow /metrics",
		      &config));
	warning = gw_config_warning(&config.listeners[0]);
	assert_string_equal(
		warning, "127.0.0.1:8001 is plain HTTP without identity: every process on this machine, and "
			 "every Pod in the host's network, may read pods, services in web, db; nodes in all "
			 "namespaces; /metrics");
	gw_config_done(&config);
	assert_null(parse(UNIX, &config));
	assert_null(gw_config_warning(&config.listeners[0]));
	gw_config_done(&config);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(each_profile_has_what_it_needs),
	cmocka_unit_test(what_is_missing_or_anothers_is_refused),
	cmocka_unit_test(what_is_given_away_is_said),
};
TEST_GROUP(tests, NULL, NULL);
