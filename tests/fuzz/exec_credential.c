/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the output of a credential plugin: refused with a message, or complete credentials. */
#include "tests/fuzz/fuzz.h"
#include "writer/kube/exec_credential.h"
#include "writer/base/message.h"

static void
try(const uint8_t *data, size_t size, const char *version)
{
	_cleanup_(message_freep) char *error = NULL;
	struct exec_credential credential;

	if (exec_credential_parse((const char *)data, size, version, &credential, &error) < 0) {
		if (!error || !*error || strchr(error, '\n'))
			abort();
		return;
	}
	if ((!credential.token && !credential.cert.data) || !credential.cert.data != !credential.key.data)
		abort();
	for (const char *c = credential.token; c && *c; c++)
		if ((unsigned char)*c <= 0x20 || (unsigned char)*c >= 0x7f)
			abort();
	exec_credential_done(&credential);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try(data, size, "client.authentication.k8s.io/v1");
	try(data, size, "client.authentication.k8s.io/v1beta1");
	return 0;
}
