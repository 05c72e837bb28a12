/* SPDX-License-Identifier: Apache-2.0 */
/* Flags that replace parts of a kubeconfig's cluster and user, and of a pod's account. */
#include "tests/room.h"
#include "tests/support/kubeconfig_fixture.h"
#include "tests/support/temp_dir.h"
#include "writer/base/message.h"

#define PEM "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCng="
#define V1  "apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never"

static const char full[] =
	"current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u, namespace: n}}]\n"
	"clusters:\n"
	"- name: c\n  cluster: {server: 'https://c', certificate-authority-data: " PEM
	", tls-server-name: tls, proxy-url: 'socks5://p:1',\n"
	"    disable-compression: true, extensions: [{name: other, extension: 1}, {name: "
	"client.authentication.k8s.io/exec, extension: {a: [1, x]}}]}\n"
	"- name: d\n  cluster: {server: 'https://d', insecure-skip-tls-verify: true}\n"
	"users:\n"
	"- name: u\n  user: {token: hunter2, as: him, as-uid: '7', as-groups: [g, h], as-user-extra: {k: [v, "
	"w], l: []}}\n"
	"- name: cert\n  user: {client-certificate-data: " PEM ", client-key-data: " PEM "}\n"
	"- name: file\n  user: {tokenFile: /nowhere}\n"
	"- name: basic\n  user: {username: me, password: hunter2}\n"
	"- name: plugin\n  user: {exec: {command: p, " V1
	", args: [a, b], env: [{name: N, value: hunter2}], provideClusterInfo: true, installHint: h}}\n"
	"- name: both\n  user: {token: hunter2, exec: {command: p, " V1 "}}\n";

#define FULL temp_file(*state, "k", full)
#define TEST(name) TEST_CASE_IN(kubeconfig_setup, temp_dir_teardown, name)

/* All fields of a cluster and a user are taken over. */
TEST(everything_of_a_kubeconfig_is_taken)
{
	struct kube_client_config c = loaded(CHOICE(.kubeconfig = FULL)), copy;

	assert_loads(CHOICE(.kubeconfig = FULL),
		     "disable_compression=true proxy_url=socks5://p:1 as.user=him as.uid=7 exec.command=");
	assert_int_equal(kube_client_config_copy(&c, &copy), 0);
	kube_client_config_done(&c);
	assert_int_equal(copy.as.groups.n, 2);
	assert_string_equal(copy.as.groups.items[1].value, "h");
	assert_int_equal(copy.as.extra.n, 2);
	assert_string_equal(copy.as.extra.items[1].name, "k");
	assert_string_equal(copy.as.extra.items[1].value, "w");
	kube_client_config_done(&copy);

	c = loaded(CHOICE(.kubeconfig = FULL, .user = "plugin"));
	assert_int_equal(kube_client_config_copy(&c, &copy), 0);
	kube_client_config_done(&c);
	assert_string_equal(copy.exec.command, "p");
	assert_string_equal(copy.exec.api_version, "client.authentication.k8s.io/v1");
	assert_string_equal(copy.exec.args.items[1].value, "b");
	assert_string_equal(copy.exec.env.items[0].name, "N");
	assert_true(copy.exec.provide_cluster_info);
	assert_string_equal(copy.exec.cluster_config, "{\"a\":[1,\"x\"]}");
	assert_string_equal(copy.exec.install_hint, "h");
	kube_client_config_done(&copy);
}

/* --cluster and --user replace those of the context. */
TEST(cluster_and_user_can_be_chosen)
{
	assert_loads(CHOICE(.kubeconfig = FULL, .cluster = "d", .user = "basic"),
		     "server=https://d username=me namespace_=n");
	assert_refused(CHOICE(.kubeconfig = FULL, .cluster = "e"), -EINVAL,
		       "no cluster 'e' in it; it has: c, d");
	assert_refused(CHOICE(.kubeconfig = FULL, .user = "v"), -EINVAL,
		       "no user 'v' in it; it has: u, cert");
	set_env("HOME", *state);
	assert_refused(CHOICE(.user = "v"), -ENOENT, "--user v, but there is no kubeconfig");
}

/* --server removes the cluster's tls-server-name; --tls-server-name sets another. */
TEST(another_server_has_another_name)
{
	assert_loads(CHOICE(.kubeconfig = FULL, .server = "https://e"),
		     "server=https://e tls_server_name= ca.data=*");
	assert_loads(CHOICE(.kubeconfig = FULL, .tls_server_name = "z"), "tls_server_name=z");
}

/* --certificate-authority and --insecure-skip-tls-verify each replace both settings of the cluster. */
TEST(trust_by_flag_replaces_the_clusters)
{
	assert_loads(CHOICE(.kubeconfig = FULL, .insecure_skip_tls_verify = true),
		     "insecure_skip_tls_verify=true ca.data=");
	assert_loads(CHOICE(.kubeconfig = FULL, .cluster = "d", .certificate_authority = "/ca"),
		     "insecure_skip_tls_verify=false ca.file=/ca");
	assert_refused(
		CHOICE(.kubeconfig = FULL, .certificate_authority = "/ca", .insecure_skip_tls_verify = true),
		-EINVAL, "contradict each other");
}

/* --token replaces token, tokenFile, password and plugin, even a plugin that could not be used. */
TEST(a_token_by_flag_replaces_other_ways)
{
	static const char *const users[] = {"u", "file", "basic", "plugin"};
	for (size_t i = 0; i < sizeof(users) / sizeof(*users); i++)
		assert_loads(CHOICE(.kubeconfig = FULL, .user = users[i], .token = "flag"),
			     "token=flag token_file= username= exec.command=");
	assert_refused(CHOICE(.kubeconfig = FULL, .token = "hunter2\n"), -EINVAL, "--token has a character");
}

/* A certificate by flag replaces the user's certificate and plugin. It needs its key, and the key it. */
TEST(a_certificate_by_flag_replaces_the_users)
{
	struct kubeconfig_choice choice = {
		.kubeconfig = FULL, .user = "cert", .client_certificate = "/c", .client_key = "/k"};
	assert_loads(choice, "client_cert.file=/c client_cert.data= client_key.file=/k");
	choice.user = "plugin";
	assert_loads(choice, "exec.command=");
	assert_loads(CHOICE(.kubeconfig = FULL, .user = "both"), "exec.command=");
	assert_refused(CHOICE(.kubeconfig = FULL, .client_key = "/k"), -EINVAL,
		       "only one of client-certificate");
}

/* --as, --as-uid and --as-group each replace the user's setting. */
TEST(impersonation_by_flag)
{
	static char *groups[] = {"one", "two"};
	struct kubeconfig_choice choice = {
		.kubeconfig = FULL, .as = "her", .as_groups = groups, .n_as_groups = 2};
	struct kube_client_config c = loaded(choice);

	assert_string_equal(c.as.user, "her");
	assert_string_equal(c.as.uid, "7");
	assert_int_equal(c.as.groups.n, 2);
	assert_string_equal(c.as.groups.items[0].value, "one");
	assert_int_equal(c.as.extra.n, 2);
	kube_client_config_done(&c);
	choice.as = NULL;
	choice.user = "basic";
	assert_refused(choice, -EINVAL, "without a user; name one with --as");
	choice.as = "a\nX-Y: z";
	assert_refused(choice, -EINVAL, "a control character in whom to impersonate");
}

/* In a pod flags replace the settings of the service account. */
TEST(flags_count_in_a_pod_too)
{
	struct kube_client_config c;

	set_env("KUBERNETES_SERVICE_HOST", "10.0.0.1");
	temp_file(*state, "var/run/secrets/kubernetes.io/serviceaccount/token", "t");
	temp_file(*state, "var/run/secrets/kubernetes.io/serviceaccount/ca.crt",
		  "-----BEGIN CERTIFICATE-----");
	assert_loads(CHOICE(.root = *state, .as = "me", .token = "t2", .certificate_authority = "/ca"),
		     "server=https://10.0.0.1:443 as.user=me token=t2 token_file= ca.file=/ca");
	c = loaded(CHOICE(.root = *state, .request_timeout_ms = 5));
	assert_int_equal(c.request_timeout_ms, 5);
	kube_client_config_done(&c);
}

/* A plugin that needs a terminal, or is described wrongly, is refused with its place. */
TEST(unusable_plugins_are_refused)
{
#define EXEC(rest) "{exec: {command: p, apiVersion: client.authentication.k8s.io/v1" rest "}}"
	assert_user_refused(*state, EXEC(", interactiveMode: Always"), -ENOTSUP,
			    "k:6:91: user 'u': its plugin wants to ask a person");
	assert_user_refused(*state, EXEC(""), -EINVAL, "exec needs interactiveMode");
	assert_user_refused(*state, EXEC(", interactiveMode: Sometimes"), -EINVAL,
			    "must be Never, IfAvailable or Always");
	assert_user_refused(*state, EXEC("alpha1"), -ENOTSUP,
			    "exec needs apiVersion: client.authentication.k8s.io/v1 or v1beta1");
	assert_user_refused(*state, "{exec: {command: p}}", -EINVAL, "exec needs apiVersion");
	assert_user_refused(*state, "{exec: {apiVersion: client.authentication.k8s.io/v1beta1}}", -EINVAL,
			    "exec needs a command");
	assert_user_refused(*state, EXEC("beta1, args: [{hunter2: 1}]"), -EINVAL,
			    "an element of args must be a string");
	assert_user_refused(*state, EXEC("beta1, env: [{value: hunter2}]"), -EINVAL, "must have a name");
	assert_user_refused(*state, EXEC("beta1, env: [{name: A=B, value: hunter2}]"), -EINVAL,
			    "must have a name (without '=')");
	assert_user_refused(*state, "{exec: hunter2}", -EINVAL, "exec must be a mapping");
	assert_user_refused(*state, "{token: hunter2, username: me}", -EINVAL,
			    "has a token and a username or password; keep one");
	assert_user_refused(*state, "{as-groups: [g]}", -EINVAL, "without a user");
}

/* Switches may have YAML 1.1's words, as kubectl reads them. */
TEST(old_words_for_true_are_read)
{
	static const char text[] = "clusters: [{name: c, cluster: {server: 'https://x', "
				   "insecure-skip-tls-verify: Yes, disable-compression: off}}]\n";
	assert_loads(CHOICE(.kubeconfig = temp_file(*state, "k", text), .cluster = "c"),
		     "insecure_skip_tls_verify=true disable_compression=false");
	temp_file(*state, "k",
		  "clusters: [{name: c, cluster: {server: 'https://x', disable-compression: maybe}}]\n");
	assert_refused(CHOICE(.kubeconfig = temp_path(*state, "k"), .cluster = "c"), -EINVAL,
		       "must be true or false");
}

/* A bad proxy-url is refused and not shown. */
TEST(a_wrong_proxy_url_is_refused)
{
	static const char text[] =
		"clusters: [{name: c, cluster: {server: 'https://x', proxy-url: 'ftp://u:hunter2@x'}}]\n";

	assert_refused(CHOICE(.kubeconfig = temp_file(*state, "k", text), .cluster = "c"), -EINVAL,
		       "proxy-url must be a URL that starts with http://, https:// or socks5://");
}

/* A password by flag replaces the user's password or plugin. Beside a token it is refused. */
TEST(a_password_by_flag_replaces_the_users)
{
	assert_loads(CHOICE(.kubeconfig = FULL, .user = "plugin", .username = "me", .password = "pass"),
		     "username=me password=pass exec.command=");
	assert_loads(CHOICE(.kubeconfig = FULL, .user = "basic", .username = "her"),
		     "username=her password=hunter2");
	assert_refused(CHOICE(.kubeconfig = FULL, .username = "me", .password = "hunter2"), -EINVAL,
		       "keep one");
}

/* Flag and cluster may each turn compression off. */
TEST(compression_by_flag)
{
	assert_loads(CHOICE(.kubeconfig = FULL, .cluster = "d"), "disable_compression=false");
	assert_loads(CHOICE(.kubeconfig = FULL, .cluster = "d", .disable_compression = true),
		     "disable_compression=true");
}
