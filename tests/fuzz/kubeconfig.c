/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a kubeconfig: refused with a message, or a configuration that requests can use. */
#include <sys/mman.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "writer/kube/kubeconfig.h"
#include "writer/base/message.h"

static const char *
no_environment(const char *name)
{
	(void)name;
	return NULL;
}

static void
try(const uint8_t *data, size_t size, struct kubeconfig_choice choice)
{
	_cleanup_(message_freep) char *error = NULL;
	struct kube_client_config config, copy;

	char path[64];
	int fd = memfd_create("kubeconfig", 0), r;

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	choice.getenv = no_environment;
	choice.kubeconfig = path;
	r = kubeconfig_load(&choice, &config, &error);
	close(fd);
	if (r < 0) {
		must(error && *error && !strchr(error, '\n'));
		return;
	}
	must(config.server && *config.server && config.origin);
	must(kube_pem_given(&config.client_cert) == kube_pem_given(&config.client_key));
	must(!config.username == !config.password);
	must(!config.exec.command || (!config.token && !config.username && config.exec.api_version));
	for (const char *c = config.token; c && *c; c++)
		must((unsigned char)*c > 0x20 && (unsigned char)*c < 0x7f);
	must(kube_client_config_copy(&config, &copy) == 0);
	kube_client_config_done(&config);
	kube_client_config_done(&copy);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try(data, size, (struct kubeconfig_choice){0});
	try(data, size, (struct kubeconfig_choice){.cluster = "c", .user = "u", .as = "a"});
	return 0;
}
