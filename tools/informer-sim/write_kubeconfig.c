/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a kubeconfig in kubectl's form: YAML with one cluster, user and context. */
#include "tools/informer-sim/write_kubeconfig.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/serving/buf.h"

static void
data(struct api_buf *yaml, const char *name, const char *pem)
{
	size_t size = sodium_base64_encoded_len(strlen(pem), sodium_base64_VARIANT_ORIGINAL);
	_cleanup_(api_freep) char *text = api_alloc(size);

	sodium_bin2base64(text, size, (const unsigned char *)pem, strlen(pem),
			  sodium_base64_VARIANT_ORIGINAL);
	api_buf_printf(yaml, "    %s: %s\n", name, text);
}

static void
print(struct api_buf *yaml, const struct sim_kubeconfig *config)
{
	api_buf_printf(
		yaml,
		"apiVersion: v1\nkind: Config\nclusters:\n- name: informer-sim\n  cluster:\n    server: %s\n",
		config->url);
	if (config->ca)
		data(yaml, "certificate-authority-data", config->ca);
	api_buf_puts(yaml, "users:\n- name: informer-sim\n  user:");
	api_buf_puts(yaml, config->token || config->client ? "\n" : " {}\n");
	if (config->token) {
		api_buf_puts(yaml, "    token: ");
		api_buf_json_str(yaml, config->token);
		api_buf_puts(yaml, "\n");
	}
	if (config->client) {
		data(yaml, "client-certificate-data", config->client);
		data(yaml, "client-key-data", config->client_key);
	}
	api_buf_puts(yaml, "contexts:\n- name: informer-sim\n  context:\n    cluster: informer-sim\n    "
			   "user: informer-sim\n"
			   "current-context: informer-sim\n");
}

int
sim_kubeconfig_write(const char *path, const struct sim_kubeconfig *config)
{
	_cleanup_(api_buf_done) struct api_buf yaml = {0};
	_cleanup_(api_buf_done) struct api_buf beside = {0};
	struct stat st;
	/* write into a pipe or /dev/stdout, but replace a file in one step */
	bool plain = stat(path, &st) < 0 || S_ISREG(st.st_mode);
	int fd, r = 0;

	print(&yaml, config);
	api_buf_printf(&beside, plain ? "%s.%ld.tmp" : "%s", path, (long)getpid());
	fd = open(beside.data, plain ? O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC : O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < yaml.len && r == 0;) {
		ssize_t n = write(fd, yaml.data + done, yaml.len - done);

		if (n < 0 && errno != EINTR)
			r = -errno;
		done += n > 0 ? (size_t)n : 0;
	}
	if (close(fd) < 0 && r == 0)
		r = -errno;
	if (plain && r == 0 && rename(beside.data, path) < 0)
		r = -errno;
	if (plain && r < 0)
		unlink(beside.data);
	return r;
}
