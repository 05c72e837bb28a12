/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a configuration file of informerd or informer-run, and line by line as values of --resource
 * and --index. They are refused with a message, or give complete settings.
 */
#include <fcntl.h>

#include "tests/fuzz/fuzz.h"
#include "tools/informer-run/handlers_file.h"
#include "writer/config/config.h"
#include "writer/base/message.h"
#include "writer/config/config_entry.h"
#include "writer/config/config_file.h"

static void
flags(const uint8_t *data, size_t size)
{
	_cleanup_(message_freep) char *error = NULL;
	_cleanup_(message_freep) char *other = NULL;
	struct config config = {0};
	char line[1024];

	fuzz_line(data, size, line);
	must(config_add_resource(&config, line, &error) == 0 || (error && *error));
	must(config_add_index(&config, line, &other) == 0 || (other && *other));
	config_done(&config);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int nowhere, said;
	const char *path = fuzz_file(data, size);
	struct config config;
	struct settings settings = {0};
	char *error = NULL;
	char why[512] = "";

	if (!said) {
		nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
		said = dup(STDERR_FILENO);
		must(nowhere >= 0 && said >= 0);
	}
	if (config_load("f", (const char *)data, size, &config, &error) == 0) {
		for (size_t i = 0; i < config.n_resources; i++)
			must(config.resources[i].resource && *config.resources[i].resource &&
			     config.resources[i].origin);
		for (size_t i = 0; i < config.n_indexes; i++)
			must(config.indexes[i].name && *config.indexes[i].name && config.indexes[i].resource);
		config_done(&config);
	} else {
		must(error && *error && !strchr(error, '\n'));
		free(error);
	}
	flags(data, size);
	must(dup2(nowhere, STDERR_FILENO) >= 0); /* informer-run's messages go there */
	if (settings_load(path, &settings) < 0)
		must(settings_check(&settings, why, sizeof(why)) || *why);
	must(dup2(said, STDERR_FILENO) >= 0);
	settings_done(&settings);
	return 0;
}
