/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing a certificate's names with a list; see client_names.h. */
#include "tools/informer-gateway/access/client_names.h"

#include <string.h>

/* Whether the name has a prefix for its kind. A name without one may be a common name. */
static bool
has_kind(const char *name)
{
	static const char *const kinds[] = {"dns:", "uri:", "ip:", "email:"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strncmp(name, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

static bool
has_name(const struct gw_certificate *certificate, const char *name)
{
	bool kind = has_kind(name);

	if (!kind && strcmp(certificate->common_name, name) == 0)
		return true;
	for (char **at = certificate->names; at && *at; at++) {
		if (kind ? strcmp(*at, name) == 0
			 : strncmp(*at, "dns:", 4) == 0 && strcmp(*at + 4, name) == 0)
			return true;
	}
	return false;
}

const char *
gw_client_name(const struct gw_certificate *certificate, const struct gw_texts *list, int64_t now_s)
{
	if (!certificate || certificate->expires_s <= now_s)
		return NULL;
	for (size_t i = 0; i < list->count; i++)
		if (*list->items[i] && has_name(certificate, list->items[i]))
			return list->items[i];
	return NULL;
}
