/* SPDX-License-Identifier: Apache-2.0 */
/* Several kubeconfig files as one, by kubectl's rules. */
#include "tests/room.h"
#include "tests/support/kubeconfig_fixture.h"
#include "tests/support/temp_dir.h"
#include "writer/base/message.h"

static void
use_list(const char *first, const char *second)
{
	char list[4000];

	snprintf(list, sizeof(list), "%.1900s:%.1900s", first, second);
	set_env("KUBECONFIG", list);
}

#define TEST(name) TEST_CASE_IN(kubeconfig_setup, temp_dir_teardown, name)

/* A context may name a cluster and a user of another file. */
TEST(entries_of_all_files_are_joined)
{
	struct kube_client_config c;

	use_list(temp_file(*state, "a",
			   "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u, "
			   "namespace: n}}]\n"),
		 temp_file(*state, "b",
			   "clusters: [{name: c, cluster: {server: 'https://b:1'}}]\nusers: [{name: u, user: "
			   "{token: t}}]\n"));
	c = loaded(CHOICE(0));
	assert_string_equal(c.server, "https://b:1");
	assert_string_equal(c.token, "t");
	assert_string_equal(c.namespace_, "n");
	assert_non_null(strstr(c.origin, "/a:"));
	assert_non_null(strstr(c.origin, "/b"));
	kube_client_config_done(&c);
}

/* Of two entries with one name the first counts, and no field of the second. */
TEST(the_first_entry_of_a_name_wins_whole)
{
	use_list(temp_file(*state, "a",
			   "contexts: [{name: x, context: {cluster: c, user: u}}]\n"
			   "clusters: [{name: c, cluster: {server: 'https://first'}}]\nusers: [{name: u, "
			   "user: {}}]\n"),
		 temp_file(*state, "b",
			   "current-context: x\ncontexts: [{name: x, context: {cluster: other, user: u, "
			   "namespace: n}}]\n"
			   "clusters: [{name: c, cluster: {server: 'https://second', tls-server-name: z}}, "
			   "{name: other, cluster: {server: 'https://other'}}]\n"
			   "users: [{name: u, user: {token: t}}]\n"));
	assert_loads(CHOICE(0), "server=https://first tls_server_name= token= namespace_=");
}

/* The first file that sets current-context counts. An empty current-context is not set. */
TEST(the_first_current_context_counts)
{
	static const char rest[] =
		"contexts: [{name: x, context: {cluster: c}}, {name: y, context: {cluster: c}}]\n"
		"clusters: [{name: c, cluster: {server: 'https://s'}}]\n";
	char list[4000], text[512];

	snprintf(text, sizeof(text), "current-context: x\n%s", rest);
	snprintf(list, sizeof(list), "%.1000s:%.1000s:%.1000s",
		 temp_file(*state, "a", "current-context: ''\n"),
		 temp_file(*state, "b", "current-context: y\n"), temp_file(*state, "c", text));
	set_env("KUBECONFIG", list);
	assert_loads(CHOICE(0), "context=y");
}

/* A path, also a plugin's, is relative to its own file. A plugin without a slash is looked up in $PATH. */
TEST(paths_stand_beside_their_own_file)
{
	struct kube_client_config c;
	struct kube_pem pem;

	temp_file(*state, "one/ca", "-----BEGIN CERTIFICATE-----\n1");
	temp_file(*state, "two/pki/c.crt", "-----BEGIN CERTIFICATE-----\nc");
	temp_file(*state, "two/pki/c.key", "-----BEGIN EC PRIVATE KEY-----\nk");
	temp_file(*state, "two/ca", "-----BEGIN CERTIFICATE-----\n2");
	use_list(
		temp_file(
			*state, "one/k",
			"current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
			"clusters: [{name: c, cluster: {server: 'https://s', certificate-authority: ca}}]\n"),
		temp_file(*state, "two/k",
			  "users: [{name: u, user: {tokenFile: t, client-certificate: pki/c.crt, client-key: "
			  "pki/c.key}}, {name: e, user: {exec: {command: ./bin/p, apiVersion: "
			  "client.authentication.k8s.io/v1beta1}}}, {name: p, user: {exec: {command: p, "
			  "apiVersion: client.authentication.k8s.io/v1beta1}}}]\n"));
	c = loaded(CHOICE(0));
	assert_string_equal(c.ca.file, temp_path(*state, "one/ca"));
	assert_string_equal(c.token_file, temp_path(*state, "two/t"));
	assert_string_equal(c.client_cert.file, temp_path(*state, "two/pki/c.crt"));
	assert_string_equal(c.client_key.file, temp_path(*state, "two/pki/c.key"));
	assert_int_equal(kube_pem_read(&c.ca, &pem, NULL), 0);
	assert_string_equal(pem.data, "-----BEGIN CERTIFICATE-----\n1");
	kube_pem_done(&pem);
	kube_client_config_done(&c);
	c = loaded(CHOICE(.user = "e"));
	assert_string_equal(c.exec.command, temp_path(*state, "two/./bin/p"));
	kube_client_config_done(&c);
	assert_loads(CHOICE(.user = "p"), "exec.command=p");
}

/* Missing files are left out, and a file named twice is read once. --kubeconfig excludes other files. */
TEST(missing_files_are_left_out)
{
	static const char text[] = "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\n"
				   "clusters: [{name: c, cluster: {server: 'https://s'}}]\n";
	char list[4000], path[1000];
	struct kube_client_config c;

	snprintf(path, sizeof(path), "%s", temp_file(*state, "k", text));
	snprintf(list, sizeof(list), ":%s:%s:%s:", temp_path(*state, "missing"), path, path);
	set_env("KUBECONFIG", list);
	c = loaded(CHOICE(0));
	assert_string_equal(c.origin, path);
	kube_client_config_done(&c);
	assert_refused(CHOICE(.kubeconfig = temp_file(*state, "empty", "")), -EINVAL, "no current-context");
}

/* A file that cannot be parsed is an error, though others are fine. */
TEST(a_broken_file_is_an_error)
{
	const char *good = temp_file(*state, "a", "current-context: x\n");

	use_list(good, temp_file(*state, "b", "users: [{name: u, user: {token: hunter2\n"));
	assert_refused(CHOICE(0), -EINVAL, "/b:");
	temp_file(*state, "b", "kind: Pod\n");
	assert_refused(CHOICE(0), -EINVAL, "/b:1:7: not a kubeconfig");
	temp_file(*state, "b", "users: [{name: u, user: {}}, {name: u, user: {}}]\n");
	assert_refused(CHOICE(0), -EINVAL, "users has 'u' twice");
	temp_file(*state, "b", "users: [{user: {}}]\n");
	assert_refused(CHOICE(0), -EINVAL, "must be a mapping with name and user");
	temp_file(*state, "b", "users: {}\n");
	assert_refused(CHOICE(0), -EINVAL, "users must be a list");
}

/* In a pod, empty kubeconfigs count as none. */
TEST(empty_files_leave_a_pod_its_account)
{
	set_env("KUBERNETES_SERVICE_HOST", "10.0.0.1");
	temp_file(*state, "var/run/secrets/kubernetes.io/serviceaccount/token", "t");
	use_list(temp_file(*state, "a", ""), temp_file(*state, "b", "kind: Config\ncontexts: []\n"));
	assert_loads(CHOICE(.root = *state), "origin=in-cluster");
}
