/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/room.h"
#include "writer/base/log.h"
#include "writer/base/message.h"
#include "writer/config/config_parse.h"
#include "writer/config/options.h"

#define ARGS(...) (char *[]){"informerd", __VA_ARGS__, NULL}

static int
count(char *const *argv)
{
	int n = 0;

	while (argv[n])
		n++;
	return n;
}

static struct options
parsed(char *const *argv)
{
	_cleanup_(message_freep) char *error = NULL;
	struct options options = {0};
	int r = options_parse(count(argv), argv, &options, &error);

	if (r < 0)
		print_message("%s\n", error ? error : "no message");
	assert_int_equal(r, 0);
	return options;
}

static void
assert_refused(char *const *argv, const char *message)
{
	_cleanup_(message_freep) char *error = NULL;
	struct options options;

	assert_int_equal(options_parse(count(argv), argv, &options, &error), -EINVAL);
	assert_non_null(error);
	if (!strstr(error, message))
		fail_msg("'%s' is not in '%s'", message, error);
}

/* A value stands behind the flag or behind '='; letters too. */
TEST_CASE(values_stand_behind_the_flag_or_after_equals)
{
	struct options o = parsed(ARGS("--kubeconfig", "/k", "--context=c", "-n", "web", "-sserver",
				       "--log-level", "debug", "--arena-max=2Gi", "--allow-uid", "0",
				       "--allow-uid=1000", "--allow-gid", "7", "--max-readers", "12",
				       "--keep-managed-fields", "-c", "conf.yaml"));

	assert_string_equal(o.flags.choice.kubeconfig, "/k");
	assert_string_equal(o.flags.choice.context, "c");
	assert_string_equal(o.flags.namespace_, "web");
	assert_string_equal(o.flags.choice.server, "server");
	assert_int_equal(o.flags.log_level, LOG_LEVEL_DEBUG);
	assert_true(o.flags.arena_max_bytes == 2ull << 30);
	assert_int_equal(o.flags.n_allow_uids, 2);
	assert_int_equal(o.flags.allow_uids[1], 1000);
	assert_int_equal(o.flags.allow_gids[0], 7);
	assert_int_equal(o.flags.max_readers, 12);
	assert_true(o.flags.keep_managed_fields);
	assert_string_equal(o.config_path, "conf.yaml");
	options_done(&o);
}

/* All of kubectl's flags for connecting are known; groups are repeated, a switch may say =true or =false. */
TEST_CASE(kubectls_flags_for_connecting_are_known)
{
	struct options o = parsed(ARGS(
		"--cluster=c", "--user=u", "--token=t", "--as=a", "--as-group=g", "--as-group", "h",
		"--as-uid=i", "--client-certificate=/c", "--client-key=/k", "--certificate-authority=/ca",
		"--insecure-skip-tls-verify=true", "--tls-server-name=n", "--request-timeout=1m30s"));
	const struct server_choice *c = &o.flags.choice;

	assert_string_equal(c->cluster, "c");
	assert_string_equal(c->user, "u");
	assert_string_equal(c->token, "t");
	assert_string_equal(c->as, "a");
	assert_int_equal(c->n_as_groups, 2);
	assert_string_equal(c->as_groups[1], "h");
	assert_string_equal(c->as_uid, "i");
	assert_string_equal(c->client_certificate, "/c");
	assert_string_equal(c->client_key, "/k");
	assert_string_equal(c->certificate_authority, "/ca");
	assert_true(c->insecure_skip_tls_verify);
	assert_string_equal(c->tls_server_name, "n");
	assert_int_equal(c->request_timeout_ms, 90000);
	options_done(&o);
	o = parsed(ARGS("--insecure-skip-tls-verify=false", "--disable-compression=T", "--username=me",
			"--password", "word"));
	assert_false(o.flags.choice.insecure_skip_tls_verify);
	assert_true(o.flags.choice.disable_compression);
	assert_string_equal(o.flags.choice.username, "me");
	assert_string_equal(o.flags.choice.password, "word");
	options_done(&o);
	assert_refused(ARGS("--insecure-skip-tls-verify=maybe"),
		       "--insecure-skip-tls-verify takes no value (but =true or =false)");
}

/* What others can read of our arguments holds no secret; everything else stays as it was typed. */
TEST_CASE(secrets_are_overwritten_in_the_arguments)
{
	char *typed[] = {"informerd",
			 "--token=hunter2",
			 "-r",
			 "--token",
			 "--password",
			 "hunter3",
			 "--username=--password",
			 "--token",
			 "hunter4",
			 "-s",
			 "https://x",
			 "--token",
			 NULL};
	static const char *const shown[] = {"informerd",
					    "--token=xxxxxxx",
					    "-r",
					    "--token",
					    "--password",
					    "xxxxxxx",
					    "--username=--password",
					    "--token",
					    "xxxxxxx",
					    "-s",
					    "https://x",
					    "--token"};
	int n = sizeof(shown) / sizeof(*shown);
	char *argv[sizeof(shown) / sizeof(*shown) + 1] = {NULL};

	for (int i = 0; i < n; i++)
		argv[i] = strdup(typed[i]);
	options_hide_secrets(n, argv);
	for (int i = 0; i < n; i++) {
		assert_string_equal(argv[i], shown[i]);
		free(argv[i]);
	}
}

/*
 * As for kubectl, a flag for connecting whose value is empty, as of a variable that is not set, is not
 * there.
 */
TEST_CASE(kubectls_flags_may_be_empty)
{
	struct options o = parsed(ARGS(
		"--kubeconfig=", "--context", "", "--cluster=", "--user=", "--server=", "-s", "", "--token=",
		"--as=", "--as-uid=", "--as-group=", "--username=", "--password=", "--client-certificate=",
		"--client-key=", "--certificate-authority=", "--tls-server-name=", "--request-timeout="));
	const struct server_choice nothing = {0};

	assert_memory_equal(&o.flags.choice, &nothing, sizeof(nothing));
	options_done(&o);
}

/* A time is seconds, or numbers with units, as Go reads them. */
TEST_CASE(a_timeout_is_read_as_kubectl_does)
{
	static const struct {
		const char *text;
		int64_t ms; /* -1: refused */
	} times[] = {
		{"0", 0},
		{"30", 30000},
		{"30s", 30000},
		{"1m30s", 90000},
		{"1.5h", 5400000},
		{"250ms", 250},
		{"1ns", 1},
		{"2us", 1},
		{"", -1},
		{"s", -1},
		{"1.5", -1},
		{"1m30", -1},
		{"5 s", -1},
		{"1d", -1},
		{"-1s", -1},
		{"1e3s", -1},
		{"9999h", INT32_MAX},
		{"+5s", 5000},
		{"100h", 360000000},
		{".5s", 500},
		{"-1", -1},
		{"+5", -1},
		{"5S", -1},
		{"99999999999999999999999999h", INT32_MAX},
		{"1..5s", -1},
		{"inf", -1},
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		uint64_t ms = 0;
		int r = server_choice_parse_timeout(times[i].text, &ms, NULL);

		if (times[i].ms < 0 ? r != -EINVAL : r < 0 || ms != (uint64_t)times[i].ms)
			fail_msg("%s: %d, %llu", times[i].text, r, (unsigned long long)ms);
	}
	assert_refused(ARGS("--compression=zstd"), "--compression: 'zstd' is neither auto, gzip nor none");
	assert_refused(ARGS("--wire=xml"), "--wire: 'xml' is neither auto, json nor protobuf");
	assert_refused(ARGS("-r", "pods?wire=cbor"), "'cbor' is neither auto, json nor protobuf");
	assert_refused(ARGS("--request-timeout=soon"), "--request-timeout: 'soon' is not a time");
}

/* Waits and time-outs are times with a unit, in sensible bounds, which the message names. */
TEST_CASE(waits_are_times_with_a_unit)
{
	static const struct time {
		const char *text;
		int64_t ms; /* -1: refused */
	} times[] = {
		{"10ms", 10},    {"800ms", 800}, {"30s", 30000}, {"1m30s", 90000},
		{"1h", 3600000}, {"0h1s", 1000}, {"9ms", -1},    {"1h1ms", -1},
		{"", -1},        {"30", -1},     {"s", -1},      {"1m30", -1},
		{"1.5s", -1},    {"-1s", -1},    {"1 s", -1},    {"5d", -1},
		{"0", -1},       {"1S", -1},     {"5sm", -1},    {"99999999999999999999999s", -1},
	};
	struct options o = parsed(ARGS("--watch-timeout=30m", "--backoff-initial=2s", "--backoff-max", "1m",
				       "--backoff-reset=10m", "--check-every=1h"));

	assert_int_equal(o.flags.watch_timeout_ms, 1800000);
	assert_int_equal(o.flags.backoff.first_ms, 2000);
	assert_int_equal(o.flags.backoff.max_ms, 60000);
	assert_int_equal(o.flags.backoff.reset_ms, 600000);
	assert_int_equal(o.flags.check_every_ms, 3600000);
	options_done(&o);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		uint64_t ms = 0;
		int r = config_parse_backoff(times[i].text, &ms, NULL);

		if (times[i].ms < 0 ? r != -EINVAL : r < 0 || ms != (uint64_t)times[i].ms)
			fail_msg("%s: %d, %llu", times[i].text, r, (unsigned long long)ms);
	}
	assert_refused(ARGS("--backoff-initial=9ms"),
		       "--backoff-initial: '9ms' is not a time from 10ms to 1h, such as");
	assert_refused(ARGS("--backoff-max=61m"), "--backoff-max: '61m' is not a time from 10ms to 1h");
	assert_refused(ARGS("--backoff-reset=999ms"),
		       "--backoff-reset: '999ms' is not a time from 1s to 24h");
	assert_refused(ARGS("--watch-timeout=4s"), "--watch-timeout: '4s' is not a time from 5s to 24h");
	assert_refused(ARGS("--check-every=169h"), "--check-every: '169h' is not a time from 1s to 168h");
	assert_refused(ARGS("--watch-timeout=24h1s"), "--watch-timeout: '24h1s' is not a time from 5s");
}

/* A resource takes selectors as the API's own query, commas and equals signs included. */
TEST_CASE(a_resource_takes_selectors_as_a_query)
{
	char part[] =
		"pods?namespace=web&labelSelector=app in (a,b),tier!=x&fieldSelector=spec.nodeName=n1%26";
	struct options o = parsed(ARGS("-r", part, "--resource=deploy.apps"));

	assert_int_equal(o.flags.n_resources, 2);
	assert_string_equal(o.flags.resources[0].resource, "pods");
	assert_string_equal(o.flags.resources[0].namespace_, "web");
	assert_string_equal(o.flags.resources[0].label_selector, "app in (a,b),tier!=x");
	assert_string_equal(o.flags.resources[0].field_selector, "spec.nodeName=n1&");
	assert_string_equal(o.flags.resources[1].resource, "deploy.apps");
	assert_null(o.flags.resources[1].namespace_);
	options_done(&o);
}

/* An index names its resource, its path and, if wanted, a separator. */
TEST_CASE(an_index_names_resource_path_and_separator)
{
	struct options o = parsed(ARGS("--index", "byUser=pods:metadata.annotations[\"x:split=y\"]:split=,",
				       "--index", "image=po:spec.containers[*].image"));

	assert_string_equal(o.flags.indexes[0].name, "byUser");
	assert_string_equal(o.flags.indexes[0].resource, "pods");
	assert_string_equal(o.flags.indexes[0].paths[0], "metadata.annotations[\"x:split=y\"]");
	assert_string_equal(o.flags.indexes[0].split, ",");
	assert_null(o.flags.indexes[1].split);
	options_done(&o);
}

/* A mistyped flag is answered with the nearest one. */
TEST_CASE(an_unknown_flag_suggests_the_nearest)
{
	assert_refused(ARGS("--resouce", "pods"), "unknown flag --resouce; did you mean --resource?");
	assert_refused(ARGS("--kube-config=x"), "did you mean --kubeconfig?");
	assert_refused(ARGS("--zzzzzz"), "unknown flag --zzzzzz; see --help");
	assert_refused(ARGS("-x"), "unknown flag -x; see");
	assert_refused(ARGS("pods"), "--resource pods");
}

/* A wrong value is named together with its flag. */
TEST_CASE(a_wrong_value_names_its_flag)
{
	assert_refused(ARGS("--socket"), "--socket needs a value: --socket PATH");
	assert_refused(ARGS("--socket="), "--socket needs a value that is not empty");
	assert_refused(ARGS("--help=x"), "--help takes no value");
	assert_refused(ARGS("--arena-max", "4Q"), "--arena-max: '4Q' is not a size");
	assert_refused(ARGS("--arena-max", "99999999T"), "is not a size");
	assert_refused(ARGS("--allow-uid", "-1"), "--allow-uid: '-1' is not a whole number");
	assert_refused(ARGS("--allow-uid", "4294967295"), "is more than 4294967294");
	assert_refused(ARGS("--max-readers", "0"), "nobody could attach");
	assert_refused(ARGS("--log-level", "loud"), "none of error, warning");
	assert_refused(ARGS("--namespace", "a/b"), "cannot be a namespace");
	assert_refused(ARGS("-r", "pods/log"), "is no resource name");
	assert_refused(ARGS("-r", "pods?labelselector=a"), "did you mean labelSelector?");
	assert_refused(ARGS("-r", "pods?namespace"), "needs a value");
	assert_refused(ARGS("-r", "pods?namespace=a&namespace=b"), "given twice");
	assert_refused(ARGS("-r", "pods?fieldSelector=a%2"), "two hexadecimal digits");
	assert_refused(ARGS("--index", "x"), "is no index");
	assert_refused(ARGS("--index", "a b=pods:metadata.name"), "cannot be an index's name");
	assert_refused(ARGS("--index", "x=pods:metadata..name"),
		       "--index: path 'metadata..name', character 10");
	assert_refused(ARGS("--index", "x=pods:a:split="), "needs a separator");
}

/* --help describes every flag of the table. */
TEST_CASE(help_describes_every_flag)
{
	char *text = NULL, flag[64];
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	options_help(out);
	fclose(out);
	for (size_t i = 0; options_name(i); i++) {
		snprintf(flag, sizeof(flag), "--%s", options_name(i));
		if (!strstr(text, flag))
			fail_msg("%s is not in --help", flag);
	}
	free(text);
}

/* The manual page describes every flag of the table. */
TEST_CASE(the_manual_page_describes_every_flag)
{
	char flag[96], *text;
	long size;
	FILE *page = fopen("writer/man/informerd.8", "r");

	if (!page) {
		print_message("SKIP the manual page is only found from the source folder\n");
		skip();
	}
	fseek(page, 0, SEEK_END);
	size = ftell(page);
	rewind(page);
	text = calloc(1, (size_t)size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)size, page), size);
	fclose(page);
	for (size_t i = 0; options_name(i); i++) {
		size_t at = (size_t)snprintf(flag, sizeof(flag), "\\-\\-");

		for (const char *p = options_name(i); *p; p++)
			at += (size_t)snprintf(flag + at, sizeof(flag) - at, *p == '-' ? "\\-" : "%c", *p);
		if (!strstr(text, flag))
			fail_msg("%s is not in informerd(8)", flag);
	}
	free(text);
}
