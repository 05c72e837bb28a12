/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. */
#include "tests/room.h"
#include "tests/support/config_text.h"
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

/* The flags give these options (config_text.h). */
static void
assert_parsed(char *const *argv, const char *expected)
{
	_cleanup_(message_freep) char *error = NULL;
	struct options options = {0};

	if (options_parse(count(argv), argv, &options, &error) < 0)
		fail_msg("%s", error ? error : "no message");
	assert_string_equal(config_text(&options.flags, NULL), expected);
	options_done(&options);
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

/* Single letters have values in both forms, too. */
TEST_CASE(values_stand_behind_the_flag_or_after_equals)
{
	assert_parsed(ARGS("--kubeconfig", "/k", "--context=c", "-n", "web", "-sserver", "--log-level",
			   "debug", "--arena-max=2Gi", "--allow-uid", "0", "--allow-uid=1000", "--allow-gid",
			   "7", "--max-readers", "12", "--keep-managed-fields", "-c", "conf.yaml"),
		      " kubeconfig=/k context=c server=server namespace_=web keep_managed_fields=1"
		      " arena_max_bytes=2147483648 uid=0 uid=1000 gid=7 max_readers=12 log_level=debug");
}

/* Groups may be repeated. A switch may have =true or =false. */
TEST_CASE(kubectls_flags_for_connecting_are_known)
{
	assert_parsed(ARGS("--cluster=c", "--user=u", "--token=t", "--as=a", "--as-group=g", "--as-group",
			   "h", "--as-uid=i", "--client-certificate=/c", "--client-key=/k",
			   "--certificate-authority=/ca", "--insecure-skip-tls-verify=true",
			   "--tls-server-name=n", "--request-timeout=1m30s"),
		      " cluster=c user=u certificate_authority=/ca tls_server_name=n client_certificate=/c"
		      " client_key=/k token=t as=a as_uid=i as_groups[i]=g as_groups[i]=h"
		      " insecure_skip_tls_verify=1 request_timeout_ms=90000");
	assert_parsed(ARGS("--insecure-skip-tls-verify=false", "--disable-compression=T", "--username=me",
			   "--password", "word"),
		      " username=me password=word disable_compression=1");
	assert_refused(ARGS("--insecure-skip-tls-verify=maybe"),
		       "--insecure-skip-tls-verify takes no value (but =true or =false)");
}

/* Arguments that other users can read hold no secret. All other arguments stay as typed. */
TEST_CASE(secrets_are_overwritten_in_the_arguments)
{
	char typed[] =
		"informerd --token=hunter2 -r --token --password hunter3 --username=--password --token "
		"hunter4 -s https://x --token";
	static const char shown[] = "informerd --token=xxxxxxx -r --token --password xxxxxxx "
				    "--username=--password --token xxxxxxx -s https://x --token";
	char *argv[16], *rest = typed;
	int argc = 0;

	while ((argv[argc] = strtok_r(rest, " ", &rest)))
		argc++;
	options_hide_secrets(argc, argv);
	for (int i = 0; i + 1 < argc; i++)
		argv[i][strlen(argv[i])] = ' ';
	assert_string_equal(typed, shown);
}

/* The kept command line has all arguments as typed, and can take one more flag for a restart. */
TEST_CASE(the_command_line_is_kept)
{
	char *const *argv = ARGS("--standby", "--check", "--token=t");
	struct options options;

	assert_int_equal(options_parse(count(argv), argv, &options, NULL), 0);
	assert_true(options.standby && options.check && !options.check_config);
	for (int i = 0; i < count(argv); i++) {
		assert_string_equal(options.arguments[i], argv[i]);
		assert_ptr_not_equal(options.arguments[i], argv[i]);
	}
	assert_null(options.arguments[count(argv)]);
	options_done(&options);
}

/* An estimate does what a check does, and more; it needs the API server. */
TEST_CASE(an_estimate_is_a_check_with_the_server)
{
	char *const *argv = ARGS("--estimate", "-r", "pods");
	struct options options;

	assert_int_equal(options_parse(count(argv), argv, &options, NULL), 0);
	assert_true(options.estimate && options.check && !options.check_config);
	options_done(&options);
	assert_refused(ARGS("--estimate", "--check-config", "-r", "pods"), "use one of them");
}

/* As for kubectl, an empty value of a flag for connecting means that the flag is absent. */
TEST_CASE(kubectls_flags_may_be_empty)
{
	assert_parsed(ARGS("--kubeconfig=", "--context", "", "--cluster=", "--user=", "--server=", "-s", "",
			   "--token=", "--as=", "--as-uid=", "--as-group=", "--username=", "--password=",
			   "--client-certificate=", "--client-key=", "--certificate-authority=",
			   "--tls-server-name=", "--request-timeout="),
		      "");
}

/* Each text is this time in milliseconds; below 0, the text is refused. */
struct time_texts {
	int64_t ms;
	const char *texts[16];
};

static void
assert_times(flag_take *take, const struct time_texts *times, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (const char *const *text = times[i].texts; *text; text++) {
			uint64_t ms = 0;
			int r = take(&ms, *text, NULL);

			if (times[i].ms < 0 ? r != -EINVAL : r < 0 || ms != (uint64_t)times[i].ms)
				fail_msg("%s: %d, %llu", *text, r, (unsigned long long)ms);
		}
}

/* A time is seconds, or numbers with units, as Go reads them. */
TEST_CASE(a_timeout_is_read_as_kubectl_does)
{
	static const struct time_texts times[] = {
		{0, {"0"}},
		{30000, {"30", "30s"}},
		{90000, {"1m30s"}},
		{5400000, {"1.5h"}},
		{250, {"250ms"}},
		{1, {"1ns", "2us"}},
		{5000, {"+5s"}},
		{500, {".5s"}},
		{360000000, {"100h"}},
		{INT32_MAX, {"9999h", "99999999999999999999999999h"}},
		{-1, {"", "s", "1.5", "1m30", "5 s", "1d", "-1s", "1e3s", "-1", "+5", "5S", "1..5s", "inf"}}};

	assert_times(server_choice_take_timeout, times, sizeof(times) / sizeof(*times));
}

/* Waits and time-outs need a unit. The message of a refusal names the bounds. */
TEST_CASE(waits_are_times_with_a_unit)
{
	static const struct time_texts times[] = {{10, {"10ms"}},
						  {800, {"800ms"}},
						  {30000, {"30s"}},
						  {90000, {"1m30s"}},
						  {3600000, {"1h"}},
						  {1000, {"0h1s"}},
						  {1500, {"1.5s"}},
						  {-1,
						   {"9ms", "1h1ms", "", "30", "s", "1m30", "-1s", "1 s", "5d",
						    "0", "1S", "5sm", "99999999999999999999999s"}}};

	assert_times(config_take_backoff, times, sizeof(times) / sizeof(*times));
	assert_parsed(ARGS("--watch-timeout=30m", "--backoff-initial=2s", "--backoff-max", "1m",
			   "--backoff-reset=10m", "--check-every=1h"),
		      " backoff.first_ms=2000 backoff.max_ms=60000 backoff.reset_ms=600000"
		      " check_every_ms=3600000 watch_timeout_ms=1800000");
}

/* Selectors are written as the API's query, commas and equals signs included. */
TEST_CASE(a_resource_takes_selectors_as_a_query)
{
	assert_parsed(ARGS("-r",
			   "pods?namespace=web&labelSelector=app in (a,b),tier!=x&fieldSelector=node=n1%26",
			   "--resource=deploy.apps"),
		      "\npods namespace_=web label_selector=app in (a,b),tier!=x"
		      " field_selector=node=n1&\ndeploy.apps");
}

TEST_CASE(an_index_names_resource_path_and_separator)
{
	assert_parsed(ARGS("--index", "byUser=pods:metadata.annotations[\"x:split=y\"]:split=,", "--index",
			   "image=po:spec.containers[*].image"),
		      "\nindex byUser of pods path=metadata.annotations[\"x:split=y\"] split=,"
		      "\nindex image of po path=spec.containers[*].image");
}

TEST_CASE(an_index_takes_a_prefix)
{
	assert_parsed(ARGS("--index", "image=po:spec.containers[*].image:prefix=12", "--index",
			   "a=pods:metadata.annotations[\"x:prefix=y\"]:split=::prefix=255", "--index",
			   "b=pods:c:prefix=1:split=,"),
		      "\nindex image of po path=spec.containers[*].image prefix=12"
		      "\nindex a of pods path=metadata.annotations[\"x:prefix=y\"] split=: prefix=255"
		      "\nindex b of pods path=c split=, prefix=1");
}

/* A refusal names the flag, what was expected, and the nearest name. */
TEST_CASE(bad_values_are_refused)
{
	static const struct {
		char *argv[4];
		const char *message;
	} cases[] = {
		{{"--resouce", "pods"}, "unknown flag --resouce; did you mean --resource?"},
		{{"--kube-config=x"}, "did you mean --kubeconfig?"},
		{{"--zzzzzz"}, "unknown flag --zzzzzz; see --help"},
		{{"-x"}, "unknown flag -x; see"},
		{{"pods"}, "--resource pods"},
		{{"--socket"}, "--socket needs a value: --socket PATH"},
		{{"--socket="}, "--socket needs a value that is not empty"},
		{{"--help=x"}, "--help takes no value"},
		{{"--arena-max", "4Q"}, "--arena-max: '4Q' is not a size"},
		{{"--arena-max", "99999999T"}, "is not a size"},
		{{"--arena-max", "10"}, "--arena-max: '10': say the unit, such as 10Mi"},
		{{"--allow-uid", "-1"}, "--allow-uid: there is no user '-1' here"},
		{{"--allow-gid", "4294967295"}, "there is no group '4294967295' here"},
		{{"--max-readers", "0"}, "nobody could attach"},
		{{"--log-level", "loud"}, "none of error, warning"},
		{{"--namespace", "a/b"}, "cannot be a namespace"},
		{{"--compression=zstd"}, "--compression: 'zstd' is neither auto, gzip nor none"},
		{{"--wire=xml"}, "--wire: 'xml' is neither auto, json nor protobuf"},
		{{"-r", "pods?wire=cbor"}, "'cbor' is neither auto, json nor protobuf"},
		{{"-r", "pods/log"}, "is no resource name"},
		{{"-r", "pods?labelselector=a"}, "did you mean labelSelector?"},
		{{"-r", "pods?namespace"}, "needs a value"},
		{{"-r", "pods?namespace=a&namespace=b"}, "given twice"},
		{{"-r", "pods?fieldSelector=a%2"}, "two hexadecimal digits"},
		{{"--index", "x"}, "is no index"},
		{{"--index", "a b=pods:metadata.name"}, "cannot be an index's name"},
		{{"--index", "x=pods:metadata..name"}, "--index: path 'metadata..name', character 10"},
		{{"--index", "x=pods:a:split="}, "needs a separator"},
		{{"--index", "x=pods:a:prefix=0"}, "--index: prefix=0: a number of bytes from 1 to 255"},
		{{"--index", "x=pods:a:prefix=256"}, "prefix=256: a number of bytes from 1 to 255"},
		{{"--index", "x=pods:a:prefix="}, "prefix=: a number of bytes from 1 to 255"},
		{{"--request-timeout=soon"}, "--request-timeout: 'soon' is not a time"},
		{{"--backoff-initial=9ms"},
		 "--backoff-initial: '9ms' is not a time from 10ms to 1h, such as"},
		{{"--backoff-max=61m"}, "--backoff-max: '61m' is not a time from 10ms to 1h"},
		{{"--backoff-reset=999ms"}, "--backoff-reset: '999ms' is not a time from 1s to 24h"},
		{{"--watch-timeout=4s"}, "--watch-timeout: '4s' is not a time from 5s to 24h"},
		{{"--watch-timeout=24h1s"}, "--watch-timeout: '24h1s' is not a time from 5s"},
		{{"--check-every=169h"}, "--check-every: '169h' is not a time from 1s to 168h"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_refused(ARGS(cases[i].argv[0], cases[i].argv[1]), cases[i].message);
}

TEST_CASE(help_and_the_manual_page_describe_every_flag)
{
	char *help = NULL, *page = calloc(1, 1 << 20), flag[96];
	size_t length = 0, flags = 0;
	FILE *out = open_memstream(&help, &length), *in = fopen("writer/man/informerd.8", "r");

	assert_non_null(out);
	assert_non_null(page);
	options_help(out);
	fclose(out);
	if (!in) {
		print_message("SKIP the manual page is only found from the source folder\n");
		skip();
	}
	assert_in_range(fread(page, 1, 1 << 20, in), 1, (1 << 20) - 1);
	fclose(in);
	for (const char *name = help; (name = strstr(name, " --"));) {
		size_t n = strspn(name += 3, "abcdefghijklmnopqrstuvwxyz-"), at;

		at = (size_t)snprintf(flag, sizeof(flag), "\\-\\-");
		for (size_t i = 0; i < n; i++)
			at += (size_t)snprintf(flag + at, sizeof(flag) - at, name[i] == '-' ? "\\-" : "%c",
					       name[i]);
		if (!strstr(page, flag))
			fail_msg("%s is not in informerd(8)", flag);
		flags++;
	}
	assert_true(flags > 40);
	free(help);
	free(page);
}
