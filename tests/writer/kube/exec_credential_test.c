/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON between informerd and a credential plugin. */

#include "tests/room.h"
#include "writer/kube/exec_credential.h"
#include "writer/base/message.h"

#define V1	"client.authentication.k8s.io/v1"
#define V1BETA1 "client.authentication.k8s.io/v1beta1"
#define CERT	"-----BEGIN CERTIFICATE-----\\nx"
#define KEY	"-----BEGIN EC PRIVATE KEY-----\\ny"

static struct exec_credential
parsed(const char *text, const char *version)
{
	_cleanup_(message_freep) char *error = NULL;
	struct exec_credential credential = {0};

	if (exec_credential_parse(text, strlen(text), version, &credential, &error) < 0)
		fail_msg("%s", error ? error : "no message");
	return credential;
}

/* A token and its expiry are read in both versions, as JSON and as YAML. */
TEST_CASE(a_token_is_taken)
{
	struct exec_credential c = parsed(
		"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"spec\":{\"interactive\":false},"
		"\"status\":{\"token\":\"abc\",\"expirationTimestamp\":\"2026-01-31T12:00:00Z\"}}",
		V1);

	assert_string_equal(c.token, "abc");
	assert_null(c.cert.data);
	assert_true(c.expires_s == 1769860800);
	exec_credential_done(&c);
	c = parsed("apiVersion: " V1BETA1 "\nkind: ExecCredential\nstatus:\n  token: abc\n", V1BETA1);
	assert_string_equal(c.token, "abc");
	assert_true(c.expires_s == INT64_MAX);
	exec_credential_done(&c);
}

/* A client certificate comes with its key. A token may stand beside it. */
TEST_CASE(a_client_certificate_is_taken)
{
	struct exec_credential c = parsed(
		"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{\"token\":null,"
		"\"clientCertificateData\":\"" CERT "\",\"clientKeyData\":\"" KEY "\"}}",
		V1);

	assert_null(c.token);
	assert_string_equal(c.cert.data, "-----BEGIN CERTIFICATE-----\nx");
	assert_int_equal(c.key.len, strlen("-----BEGIN EC PRIVATE KEY-----\ny"));
	exec_credential_done(&c);
}

/* Times may have fractions and offsets. */
TEST_CASE(expiry_is_any_rfc_3339_time)
{
	static const struct {
		const char *text;
		int64_t expected; /* 0: refused */
	} times[] = {
		{"2026-01-31T12:00:00.123456Z", 1769860800},
		{"2026-01-31T14:00:00+02:00", 1769860800},
		{"2026-01-31T06:30:00-05:30", 1769860800},
		{"0001-01-01T00:00:00Z", -62135596800},
		{"2026-01-31", 0},
		{"2026-13-31T12:00:00Z", 0},
		{"2026-01-31T12:00:00", 0},
		{"2026-01-31T12:00:00.Z", 0},
		{"soon", 0},
		{"2026-01-31T12:00:00+2", 0},
	};
	char text[512];

	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
		struct exec_credential c = {0};
		int r;

		snprintf(text, sizeof(text),
			 "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":{\"token\":\"a\","
			 "\"expirationTimestamp\":\"%s\"}}",
			 times[i].text);
		r = exec_credential_parse(text, strlen(text), V1, &c, NULL);
		if (times[i].expected ? r < 0 || c.expires_s != times[i].expected : r != -EPROTO)
			fail_msg("%s", times[i].text);
		exec_credential_done(&c);
	}
}

/* The message of a refusal shows nothing of the answer. */
TEST_CASE(other_answers_are_refused_without_being_shown)
{
#define ANSWER(status) "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\",\"status\":" status "}"
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "no ExecCredential"},
		{"hunter2", "no ExecCredential"},
		{"{\"token\": \"hunter2", "neither JSON nor YAML"},
		{"hunter2: a\nhunter2: b\n", "neither JSON nor YAML"},
		{"[\"hunter2\"]", "no ExecCredential"},
		{"{\"kind\":\"hunter2\"}", "no ExecCredential"},
		{"{\"kind\":\"ExecCredential\",\"apiVersion\":\"hunter2\",\"status\":{\"token\":\"a\"}}",
		 "another apiVersion than the " V1},
		{"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1 "\"}", "no status"},
		{ANSWER("\"hunter2\""), "no status"},
		{ANSWER("{}"), "neither a token nor a client certificate"},
		{ANSWER("{\"token\":\"\"}"), "neither a token nor a client certificate"},
		{ANSWER("{\"token\":[\"hunter2\"]}"), "is not a string"},
		{ANSWER("{\"token\":\"hunter2\\r\\nX: y\"}"), "a character that cannot stand in one"},
		{ANSWER("{\"clientKeyData\":\"hunter2\"}"), "only one of"},
		{ANSWER("{\"clientKeyData\":\"hunter2\",\"clientCertificateData\":\"hunter2\"}"), "not PEM"},
		{ANSWER("{\"token\":\"hunter2\",\"expirationTimestamp\":\"hunter2\"}"),
		 "expirationTimestamp"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		_cleanup_(message_freep) char *error = NULL;
		struct exec_credential credential;

		assert_int_equal(
			exec_credential_parse(cases[i].text, strlen(cases[i].text), V1, &credential, &error),
			-EPROTO);
		if (!strstr(error, cases[i].message) || strstr(error, "hunter2"))
			fail_msg("%s: %s", cases[i].text, error);
	}
}

/* A plugin is given the version, and that no user can be asked. */
TEST_CASE(a_plugin_gets_only_the_version)
{
	struct kube_client_config config = {.server = (char[]){"https://x"},
					    .exec = {.api_version = (char[]){V1}}};
	_cleanup_(message_freep) char *json = NULL;

	assert_int_equal(exec_credential_info(&config, &json, NULL), 0);
	assert_string_equal(json, "{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1
				  "\",\"spec\":{\"interactive\":false}}");
}

/* With provideClusterInfo a plugin is given the cluster as in the kubeconfig, with its config for plugins. */
TEST_CASE(a_plugin_gets_the_cluster_if_it_asks)
{
	struct kube_client_config config = {
		.server = (char[]){"https://x:6443"},
		.tls_server_name = (char[]){"api.x"},
		.proxy_url = (char[]){"http://p:1"},
		.disable_compression = true,
		.ca = {.data = (char[]){"pem"}, .len = 3},
		.exec = {.api_version = (char[]){V1BETA1},
			 .provide_cluster_info = true,
			 .cluster_config = (char[]){"{\"audience\":\"a\"}"}},
	};
	_cleanup_(message_freep) char *json = NULL;

	assert_int_equal(exec_credential_info(&config, &json, NULL), 0);
	assert_string_equal(
		json,
		"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" V1BETA1 "\",\"spec\":{\"cluster\":{"
		"\"server\":\"https://x:6443\",\"tls-server-name\":\"api.x\","
		"\"certificate-authority-data\":\"cGVt\",\"proxy-url\":\"http://p:1\","
		"\"disable-compression\":true,\"config\":{\"audience\":\"a\"}},\"interactive\":false}}");
}
