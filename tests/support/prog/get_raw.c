/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get_raw PATH FLAGS...: `kubectl get --raw PATH FLAGS...` with informerd's flags and transport, so that both
 * can be compared: the body on standard output, or why there is none on standard error. Exit 0: a success; 1:
 * none; 2: usage.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "writer/kube/transport.h"
#include "writer/base/message.h"
#include "writer/config/options.h"

struct answer {
	int status, result;
};

static void
on_response(void *ctx, const struct transport_response *response)
{
	struct answer *answer = ctx;

	answer->status = response->status;
}

static int
on_data(void *ctx, const void *data, size_t len)
{
	(void)ctx;
	return fwrite(data, 1, len, stdout) == len ? 0 : -EIO;
}

static void
on_done(void *ctx, int result, const char *message)
{
	struct answer *answer = ctx;

	answer->result = result < 0 ? result : answer->status / 100 == 2 ? 0 : -EPROTO;
	if (result < 0)
		fprintf(stderr, "%s\n", message);
	else if (answer->result < 0)
		fprintf(stderr, "the server answered %d\n", answer->status);
}

static int
get(const struct kube_client_config *config, const char *path)
{
	static const struct transport_callbacks callbacks = {on_response, on_data, on_done};
	_cleanup_(message_freep) char *error = NULL;
	struct answer answer = {.result = 1};
	struct transport *transport;
	uv_loop_t loop;

	uv_loop_init(&loop);
	if (transport_new(&loop, config, &transport, &error) < 0) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	if (transport_get(transport, path, 0, &callbacks, &answer, NULL) == 0)
		while (answer.result == 1)
			uv_run(&loop, UV_RUN_ONCE);
	transport_free(transport);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_loop_close(&loop);
	return answer.result != 0;
}

int
main(int argc, char **argv)
{
	_cleanup_(message_freep) char *error = NULL;
	struct kube_client_config config;
	struct options options;
	struct kube_pem ca;
	int code = 1;

	signal(SIGPIPE, SIG_IGN);
	if (sodium_init() < 0 || argc < 2)
		return 2;
	if (options_parse(argc - 1, argv + 1, &options, &error) < 0) {
		fprintf(stderr, "%s\n", error);
		return 2;
	}
	if (kubeconfig_load(&options.flags.choice, &config, &error) < 0) {
		fprintf(stderr, "%s\n", error);
	} else {
		if (kube_pem_read(&config.ca, &ca, &error) < 0)
			fprintf(stderr, "%s\n", error);
		else
			code = get(&config, argv[1]);
		kube_pem_done(&ca);
		kube_client_config_done(&config);
	}
	options_done(&options);
	return code;
}
