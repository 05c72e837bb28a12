/* SPDX-License-Identifier: Apache-2.0 */
/* kubeconfig files and the service account of a pod. */
#include "tests/room.h"
#include "tests/support/kubeconfig_fixture.h"
#include "tests/support/temp_dir.h"
#include "writer/base/message.h"

static const char two_contexts[] =
	"apiVersion: v1\nkind: Config\ncurrent-context: prod\n"
	"contexts:\n"
	"- name: prod\n  context: {cluster: c1, user: u1, namespace: web}\n"
	"- name: test\n  context: {cluster: c2, user: u2}\n"
	"clusters:\n"
	"- name: c1\n  cluster:\n    server: https://one:6443/\n"
	"    certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCng=\n"
	"    tls-server-name: api.one\n    proxy-url: http://proxy:3128\n"
	"- name: c2\n  cluster: {server: 'https://two:6443/prefix', insecure-skip-tls-verify: true}\n"
	"users:\n"
	"- name: u1\n  user: {token: hunter2}\n"
	"- name: u2\n  user: {username: me, password: hunter2}\n";

#define TEST(name) TEST_CASE_IN(kubeconfig_setup, temp_dir_teardown, name)

TEST(the_current_context_is_used)
{
	struct kube_client_config c = loaded(CHOICE(.kubeconfig = temp_file(*state, "k", two_contexts)));

	assert_string_equal(c.ca.data, "-----BEGIN CERTIFICATE-----\nx");
	kube_client_config_done(&c);
	assert_loads(CHOICE(.kubeconfig = temp_file(*state, "k", two_contexts)),
		     "server=https://one:6443 context=prod namespace_=web token=hunter2 ca.data=* "
		     "tls_server_name=api.one proxy_url=http://proxy:3128 insecure_skip_tls_verify=false");
}

/* --context chooses another context, --server another address. */
TEST(context_and_server_can_be_chosen)
{
	const char *path = temp_file(*state, "k", two_contexts);
	assert_loads(
		CHOICE(.kubeconfig = path, .context = "test"),
		"server=https://two:6443/prefix insecure_skip_tls_verify=true username=me password=hunter2");
	assert_loads(CHOICE(.kubeconfig = path, .server = "https://[::1]:1/"),
		     "server=https://[::1]:1 token=hunter2");
}

/* Without --kubeconfig the existing files of $KUBECONFIG are used, else ~/.kube/config. */
TEST(the_file_is_found_as_kubectl_does)
{
	char list[4000];
	snprintf(list, sizeof(list), "%.1900s::%.1900s", temp_path(*state, "missing"),
		 temp_file(*state, "second", two_contexts));
	set_env("HOME", *state);
	temp_file(*state, ".kube/config", "current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"
					  "clusters: [{name: c, cluster: {server: home}}]\n");
	assert_loads(CHOICE(0), "server=http://home");
	set_env("KUBECONFIG", list);
	assert_loads(CHOICE(0), "server=https://one:6443");
}

TEST(without_a_kubeconfig_the_message_says_what_to_do)
{
	set_env("HOME", *state);
	assert_refused(CHOICE(0), -ENOENT, ".kube/config does not exist; name one with --kubeconfig or");
	assert_refused(CHOICE(.kubeconfig = temp_path(*state, "typo")), -ENOENT, "typo: No such file");
	assert_refused(CHOICE(.context = "x"), -ENOENT, "--context x, but there is no kubeconfig");
}

/* --server alone means that server, without credentials. */
TEST(a_server_alone_is_enough)
{
	set_env("HOME", *state);
	assert_loads(CHOICE(.server = "127.0.0.1:8080/"), "server=http://127.0.0.1:8080 token=");
}

/* In a pod the service account's files are used. IPv6 addresses get brackets. */
TEST(a_pod_uses_its_service_account)
{
	struct kube_client_config c;

	set_env("KUBERNETES_SERVICE_HOST", "fd00::1");
	set_env("KUBERNETES_SERVICE_PORT", "6443");
	assert_refused(CHOICE(.root = *state), -ENOENT, "automountServiceAccountToken");
	temp_file(*state, "var/run/secrets/kubernetes.io/serviceaccount/token", "hunter2");
	temp_file(*state, "var/run/secrets/kubernetes.io/serviceaccount/ca.crt",
		  "-----BEGIN CERTIFICATE-----");
	temp_file(*state, "var/run/secrets/kubernetes.io/serviceaccount/namespace", "web\n");
	c = loaded(CHOICE(.root = *state));
	assert_string_equal(c.server, "https://[fd00::1]:6443");
	assert_string_equal(c.token_file,
			    temp_path(*state, "var/run/secrets/kubernetes.io/serviceaccount/token"));
	assert_non_null(c.ca.file);
	assert_string_equal(c.namespace_, "web");
	assert_string_equal(c.origin, "in-cluster");
	kube_client_config_done(&c);
}

/* A name without an entry is refused with the names that exist. */
TEST(names_without_an_entry_are_refused)
{
	struct kubeconfig_choice choice = {.kubeconfig = temp_file(*state, "k", two_contexts),
					   .context = "prd"};

	assert_refused(choice, -EINVAL, "no context 'prd' in it; it has: prod, test");
	choice.context = NULL;
	temp_file(*state, "k", "contexts: [{name: a, context: {cluster: c9}}]\nclusters: [{name: c1}]\n");
	assert_refused(choice, -EINVAL, "no current-context; choose one with --context; it has: a");
	choice.context = "a";
	assert_refused(choice, -EINVAL, "no cluster 'c9' in it; it has: c1");
	temp_file(*state, "k",
		  "contexts: [{name: a, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: "
		  "{server: x}}]\n");
	assert_refused(choice, -EINVAL, "no user 'u' in it; it has: none");
}

/* What informerd cannot use of a user is refused with its place, and never with the secret. */
TEST(unusable_users_are_refused)
{
	assert_user_refused(*state, "{auth-provider: {name: gcp}}", -ENOTSUP,
			    "k:6:10: user 'u': auth-provider is the old way");
	assert_user_refused(*state, "{token: [hunter2]}", -EINVAL, "k:6:17: token must be a string");
	assert_user_refused(*state, "{token: 'hunter2 x'}", -EINVAL, "k:6:17: token has a character");
	assert_user_refused(*state, "{client-key-data: '!hunter2'}", -EINVAL,
			    "k:6:27: client-key-data is not base64");
	assert_user_refused(*state, "{client-key-data: aHVudGVyMg==}", -EINVAL,
			    "client-key-data holds no PEM text");
	assert_user_refused(*state, "{client-certificate: /nonexistent/hunter}", -ENOENT,
			    "client-certificate: /nonexistent/hunter: No such");
	assert_user_refused(*state, "{client-key-data: LS0tLS1CRUdJTiBY}", -EINVAL,
			    "only one of client-certificate and client-key");
}

/* A bad server URL, or one with a password, is refused and not shown. */
TEST(wrong_server_urls_are_refused)
{
	set_env("HOME", *state);
	assert_refused(CHOICE(.server = "ftp://x"), -EINVAL, "must start with https://");
	assert_refused(CHOICE(.server = "https://me:hunter2@x"), -EINVAL, "it holds credentials");
	assert_refused(CHOICE(.server = "https://x?hunter2"), -EINVAL, "query");
	assert_refused(CHOICE(.server = "https://a b"), -EINVAL, "not a URL");
}

/* A CA beside insecure-skip-tls-verify is a contradiction, as for kubectl. */
TEST(a_ca_with_insecure_is_refused)
{
	static const char text[] =
		"current-context: a\ncontexts: [{name: a, context: {cluster: c}}]\n"
		"clusters: [{name: c, cluster: {server: 'https://x', insecure-skip-tls-verify: true, "
		"certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCng=}}]\n";

	assert_refused(CHOICE(.kubeconfig = temp_file(*state, "k", text)), -EINVAL, "keep one");
}
