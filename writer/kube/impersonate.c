/* SPDX-License-Identifier: Apache-2.0 */
/* Impersonation headers; see impersonate.h. */
#include "writer/kube/impersonate.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "NAME: VALUE". For an empty value libcurl wants "NAME;": "NAME:" would remove the header. */
static int
append(struct curl_slist **headers, const char *name, const char *value)
{
	struct curl_slist *longer = NULL;
	char *line;

	if (asprintf(&line, "%s%s%s", name, *value ? ": " : ";", value) < 0)
		return -ENOMEM;
	longer = curl_slist_append(*headers, line);
	free(line);
	if (!longer)
		return -ENOMEM;
	*headers = longer;
	return 0;
}

/* Characters that a header's name cannot have, and '%', become %XX. */
static char *
escape_key(const char *key)
{
	char *name = NULL, *to;

	name = malloc(strlen("Impersonate-Extra-") + 3 * strlen(key) + 1);
	if (!name)
		return NULL;
	to = stpcpy(name, "Impersonate-Extra-");
	for (const unsigned char *c = (const unsigned char *)key; *c; c++) {
		if (*c < 0x80 && (isalnum(*c) || strchr("!#$&'*+-.^_`|~", *c)))
			*to++ = (char)*c;
		else
			to += sprintf(to, "%%%02X", *c);
	}
	*to = '\0';
	return name;
}

int
impersonate_headers(const struct kube_impersonation *as, struct curl_slist **headers)
{
	int r;

	if (!as->user)
		return 0;
	r = append(headers, "Impersonate-User", as->user);
	if (r == 0 && as->uid)
		r = append(headers, "Impersonate-Uid", as->uid);
	for (size_t i = 0; i < as->groups.n && r == 0; i++)
		r = append(headers, "Impersonate-Group", as->groups.items[i].value);
	for (size_t i = 0; i < as->extra.n && r == 0; i++) {
		char *name = escape_key(as->extra.items[i].name);

		r = name ? append(headers, name, as->extra.items[i].value) : -ENOMEM;
		free(name);
	}
	return r;
}
