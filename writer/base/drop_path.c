/* SPDX-License-Identifier: Apache-2.0 */
/* Checks which paths may be dropped; see drop_path.h. */
#include "writer/base/drop_path.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* True if the path drops a part that identifies the object. */
static bool
takes_identity(const struct path *p)
{
	static const char *const needed[] = {"name", "namespace", "uid", "resourceVersion"};

	for (unsigned i = 0; i < p->count; i++) {
		const struct path_step *step = &p->steps[i];
		const char *name = p->names + step->name_offset;
		bool hit = step->kind == PATH_ANY;

		if (i == 0)
			hit = hit || (step->name_length == 8 && memcmp(name, "metadata", 8) == 0);
		for (size_t k = 0; i == 1 && k < sizeof(needed) / sizeof(needed[0]); k++)
			hit = hit || (step->name_length == strlen(needed[k]) &&
				      memcmp(name, needed[k], step->name_length) == 0);
		if (!hit)
			return false;
		if (i + 1 == p->count)
			return i < 2;
	}
	return false;
}

int
drop_path_compile(const char *text, struct path *ret_path)
{
	int r = path_compile(ret_path, text, strlen(text), NULL, NULL);

	if (r < 0)
		return r;
	if (ret_path->count == 0 || takes_identity(ret_path))
		return -EINVAL;
	for (unsigned i = 0; i < ret_path->count; i++)
		if (ret_path->steps[i].kind == PATH_ELEMENT)
			return -EINVAL;
	return 0;
}
