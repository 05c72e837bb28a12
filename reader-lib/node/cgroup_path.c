/* SPDX-License-Identifier: Apache-2.0 */
#include "reader-lib/node/cgroup_path.h"

#include <string.h>

struct part {
	const char *data;
	size_t length;
};

static bool
is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

static bool
all_hex(const char *data, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!is_hex(data[i]))
			return false;
	return true;
}

static bool
ends_with(struct part p, const char *end)
{
	size_t n = strlen(end);

	return p.length >= n && memcmp(p.data + p.length - n, end, n) == 0;
}

static bool
is_separator(char c)
{
	return c == '/' || c == ':' || c == '\n';
}

/* The part that begins at `at`. */
static struct part
part_at(const char *text, size_t length, size_t at)
{
	size_t end = at;

	while (end < length && !is_separator(text[end]))
		end++;
	return (struct part){text + at, end - at};
}

/* ---- parts ---- */

/* A UID of 36 characters, with '-' or '_' between its five groups. */
static bool
is_uuid(const char *data)
{
	for (size_t i = 0; i < 36; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? data[i] != '-' && data[i] != '_'
							    : !is_hex(data[i]))
			return false;
	return true;
}

static bool
read_pod(struct part p, struct cgroup_place *place)
{
	const char *uid;
	size_t length;

	if (ends_with(p, ".slice"))
		p.length -= strlen(".slice");
	length = p.length >= 36 && is_uuid(p.data + p.length - 36) ? 36 : 32;
	if (p.length < length + 3 || (length == 32 && !all_hex(p.data + p.length - 32, 32)))
		return false;
	uid = p.data + p.length - length;
	if (memcmp(uid - 3, "pod", 3) != 0 || (uid - 3 > p.data && uid[-4] != '-'))
		return false;
	for (size_t i = 0; i < length; i++)
		place->uid[i] = uid[i] == '_' ? '-' : uid[i];
	place->uid_length = length;
	return true;
}

static const char *
read_container(struct part p)
{
	const char *id;

	if (ends_with(p, ".scope"))
		p.length -= strlen(".scope");
	if (p.length < CGROUP_CONTAINER_ID)
		return NULL;
	id = p.data + p.length - CGROUP_CONTAINER_ID;
	if (!all_hex(id, CGROUP_CONTAINER_ID) || (id > p.data && id[-1] != '-' && id[-1] != '_') ||
	    memmem(p.data, p.length, "conmon", 6))
		return NULL;
	return id;
}

/* ---- the whole text ---- */

bool
cgroup_path_next(const char *text, size_t length, size_t *at, struct cgroup_place *ret_place)
{
	struct cgroup_place place = {.uid_length = 0}, pod = {.uid_length = 0};

	while (*at < length) {
		struct part p = part_at(text, length, *at);
		size_t end = *at + p.length;

		if (read_pod(p, &pod)) {
			if (place.uid_length > 0 || place.id) /* this pod begins the next place */
				break;
			place = pod;
		} else if (!place.id) {
			place.id = read_container(p);
		}
		*at = end < length ? end + 1 : length;
		if (end < length && text[end] == '\n' && (place.uid_length > 0 || place.id))
			break;
	}
	*ret_place = place;
	return place.uid_length > 0 || place.id;
}
