/* SPDX-License-Identifier: Apache-2.0 */
/* Which cluster answers; see cluster_id.h. */
#include "writer/kube/cluster_id.h"

#include <string.h>

bool
cluster_id_of(const cJSON *namespace_, char id[static CLUSTER_ID_MAX + 1])
{
	const cJSON *metadata = cJSON_GetObjectItemCaseSensitive(namespace_, "metadata");
	const char *uid = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(metadata, "uid"));
	size_t len = uid ? strlen(uid) : 0;

	if (len == 0 || len > CLUSTER_ID_MAX || strspn(uid, "0123456789abcdefABCDEF-") != len)
		return false;
	memcpy(id, uid, len + 1);
	return true;
}
