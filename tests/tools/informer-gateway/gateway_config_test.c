/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, alone and beside a file, and what a configuration must be as a whole: deny by default,
 * one profile a listener. */
#include "tests/room.h"
#include "tests/support/temp_dir.h"
#include "tools/informer-gateway/config/gateway_config.h"
#include "tools/informer-gateway/config/gateway_flags.h"
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
#define INSECURE "--listen 127.0.0.1:8001 --insecure-loopback --allow pods"

/* Each profile with what it needs is taken. */
TEST_CASE(each_profile_has_what_it_needs)
{
	static const struct {
		const char *line;
		enum gw_profile profile;
	} rows[] = {
		{UNIX, GW_PROFILE_UNIX},
		{"--listen unix:/run/g.sock --allow-gid 0 --allow pods --profile unix", GW_PROFILE_UNIX},
		{TOKENS, GW_PROFILE_TOKENS},
		{TOKENS " --allow pods", GW_PROFILE_TOKENS},
		{CERTIFICATES, GW_PROFILE_CERTIFICATES},
		{INSECURE, GW_PROFILE_INSECURE},
		{"--listen [::1]:8001 --insecure-loopback --allow pods", GW_PROFILE_INSECURE},
	};

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
TEST_CASE(what_is_missing_or_anothers_is_refused)
{
	static const struct {
		const char *line, *words;
	} rows[] = {
		{"", "there is no listener"},
		{"--listen 127.0.0.1:1", "who may use this listener?"},
		{"--allow pods", "no address (listen)"},
		{"--listen unix:/s --allow pods", "profile unix needs --allow-uid or --allow-gid"},
		{"--listen unix:/s --allow-uid 0", "profile unix needs --allow"},
		{"--listen 127.0.0.1:1 --profile unix --allow-uid 0 --allow pods", "only a Unix socket"},
		{"--listen unix:/s --profile tokens --tls-cert a --tls-key b", "a Unix socket is not for"},
		{"--listen :1 --profile tokens", "profile tokens needs --tls-cert"},
		{"--listen :1 --profile tokens --tls-cert a", "profile tokens needs --tls-key"},
		{TOKENS " --allow-uid 0", "--allow-uid or --allow-gid does not belong to a listener of"},
		{TOKENS " --client-ca c", "--client-ca does not belong"},
		{"--listen :1 --profile certificates --tls-cert a --tls-key b --client-ca c --allow *",
		 "profile certificates needs --client-name"},
		{"--listen :1 --profile certificates --tls-cert a --tls-key b --client-name c --allow *",
		 "profile certificates needs --client-ca"},
		{"--listen :1 --profile certificates --tls-cert a --tls-key b --client-ca c --client-name d",
		 "profile certificates needs --allow"},
		{"--listen :1 --profile pass-through", "'pass-through' is no profile"},
		{"--listen 127.0.0.1:1 --insecure-loopback", "profile insecure-loopback needs --allow"},
		{"--listen 127.0.0.1:1 --insecure-loopback --allow secrets",
		 "secrets are not given to everybody"},
		{"--listen 127.0.0.1:1 --insecure-loopback --allow *,secrets",
		 "secrets are not given to everybody"},
		{"--listen 0.0.0.0:1 --insecure-loopback --allow pods", "for 127.0.0.1 and [::1] alone"},
		{"--listen :1 --insecure-loopback --allow pods", "for 127.0.0.1 and [::1] alone"},
		{"--listen 127.0.0.2:1 --insecure-loopback --allow pods", "for 127.0.0.1 and [::1] alone"},
		{"--listen [::ffff:127.0.0.1]:1 --insecure-loopback --allow pods",
		 "for 127.0.0.1 and [::1] alone"},
		{INSECURE " --profile tokens",
		 "--insecure-loopback and --profile tokens: a listener has one profile"},
		{TOKENS " --insecure-loopback", "a listener has one profile"},
		{TOKENS " --client-ca=", "needs a value that is not empty"},
		{TOKENS " --allow Pods", "is no resource of a scope"},
		{TOKENS " pods", "is no flag"},
		{TOKENS " --lisen x", "did you mean --listen?"},
		{UNIX " --goaway-chance=0.021", "--goaway-chance 0.021: must be a number from 0 to 0.02"},
		{UNIX " --goaway-chance=-0.01", "must be a number from 0 to 0.02"},
		{UNIX " --goaway-chance=2%", "must be a number from 0 to 0.02"},
		{UNIX " --goaway-chance=0.0.1", "must be a number from 0 to 0.02"},
		{UNIX " --goaway-chance=e", "must be a number from 0 to 0.02"},
		{UNIX " --goaway-chance=nan", "must be a number from 0 to 0.02"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct gw_config config = {0};
		_cleanup_(message_freep) char *error = parse(rows[i].line, &config);

		if (!error || !strstr(error, rows[i].words))
			fail_msg("%s: %s", rows[i].line, error ? error : "(taken)");
	}
}

/* What an insecure listener gives away is said, resource by resource; of the others nothing is. */
TEST_CASE(what_is_given_away_is_said)
{
	_cleanup_(message_freep) char *warning = NULL;
	struct gw_config config = {0};

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

/* ---- flags ---- */

/* What each profile needs can be said by flags; the rest has its defaults. */
TEST_CASE(one_listener_is_said_by_flags)
{
	const struct gw_listener_config *l;
	struct gw_config config;

	assert_null(parse("--listen unix:/run/g.sock --allow-uid=0 --allow-uid=7 --allow pods?namespaces=web "
			  "--node-name n7 --allow=/metrics --server https://x --log-level=debug "
			  "--goaway-chance=0.02",
			  &config));
	l = &config.listeners[0];
	assert_string_equal(l->name, "unix:/run/g.sock");
	assert_int_equal(l->uids.count, 2);
	assert_int_equal(l->scope.count, 2);
	assert_int_equal(l->mode, 0660);
	assert_int_equal(l->inherit_fd, -1);
	assert_string_equal(config.server.server, "https://x");
	assert_string_equal(config.node_name, "n7");
	assert_int_equal(config.log_level, LOG_LEVEL_DEBUG);
	assert_true(config.goaway_chance > 0.0199 && config.goaway_chance < 0.0201);
	gw_config_done(&config);
}

/* Without --node-name the node is $NODE_NAME, else the host, whose name the kubelet writes in lower case. */
TEST_CASE(the_node_is_named_by_the_environment_or_the_host)
{
	const char *given = getenv("NODE_NAME");
	char host[256] = "", *before = given ? strdup(given) : NULL;
	struct gw_config config;

	setenv("NODE_NAME", "n8", 1);
	assert_null(parse("--listen 127.0.0.1:1 --insecure-loopback --allow pods", &config));
	assert_string_equal(config.node_name, "n8");
	gw_config_done(&config);
	setenv("NODE_NAME", "", 1);
	assert_null(parse("--listen 127.0.0.1:1 --insecure-loopback --allow pods", &config));
	assert_int_equal(gethostname(host, sizeof(host) - 1), 0);
	assert_true(strcasecmp(config.node_name, host) == 0);
	for (const char *c = config.node_name; *c; c++)
		assert_false(*c >= 'A' && *c <= 'Z');
	gw_config_done(&config);
	if (before)
		setenv("NODE_NAME", before, 1);
	else
		unsetenv("NODE_NAME");
	free(before);
}

static const char file[] = "listeners: [{listen: '127.0.0.1:1', profile: insecure-loopback, scope: [pods]}]\n"
			   "server: https://file\n"
			   "context: of-file\n"
			   "access: {keepAllowed: 1m}\n"
			   "goawayChance: 0.001\n"
			   "logLevel: error\n";

/* Beside a file flags count, and what they do not say the file does; a listener in both is not guessed. */
TEST_CASE_IN(temp_dir_setup, temp_dir_teardown, flags_count_beside_a_file)
{
	const char *path = temp_file(*state, "g.yaml", file);
	_cleanup_(message_freep) char *error = NULL;
	struct gw_config config;
	char line[400];

	snprintf(line, sizeof(line),
		 "--server=https://flag --config %s --log-level=debug --context=", path);
	assert_null(parse(line, &config));
	assert_string_equal(config.server.server, "https://flag");
	assert_string_equal(config.server.context, "of-file");
	assert_int_equal(config.log_level, LOG_LEVEL_DEBUG);
	assert_int_equal(config.access.keep_allowed_ms, 60000);
	assert_true(config.goaway_chance > 0.00099 && config.goaway_chance < 0.00101);
	assert_int_equal(config.listener_count, 1);
	gw_config_done(&config);
	snprintf(line, sizeof(line), "--config %s --allow=pods", path);
	error = parse(line, &config);
	assert_string_equal(error, "listeners stand in the file of --config, or one in flags; not both");
}

/* Help has each flag; nothing is started. */
TEST_CASE(help_is_told)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	struct gw_config config;

	assert_int_equal(
		gw_flags_parse(2, (char *const[]){(char[]){"informer-gateway"}, (char[]){"--help"}, NULL},
			       out, &config, NULL),
		1);
	fclose(out);
	assert_non_null(strstr(text, "--insecure-loopback"));
	assert_non_null(strstr(text, "--client-name"));
	free(text);
}
