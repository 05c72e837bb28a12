/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the body of an error answer: always a status with valid strings. */
#include "tests/fuzz/fuzz.h"
#include "writer/kube/status.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kube_status status;

	if (kube_status_parse(data, size, 500, &status) < 0)
		abort();
	if (!status.reason || !status.message || !status.continue_token ||
	    status.n_causes > KUBE_STATUS_MAX_CAUSES)
		abort();
	(void)kube_status_is_expired(&status);
	(void)kube_status_is_too_large_rv(&status);
	kube_status_done(&status);
	return 0;
}
