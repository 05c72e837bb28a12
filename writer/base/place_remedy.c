/* SPDX-License-Identifier: Apache-2.0 */
/* The remedies by errno; see place_remedy.h. */
#include "writer/base/place_remedy.h"

#include <errno.h>

const char *
place_remedy(int error)
{
	switch (-error) {
	case ENOSPC:
	case EDQUOT:
		return "; free some space there, or choose another place with --socket";
	case EACCES:
	case EPERM:
		return "; run informerd as a user that may write there, or choose another place with "
		       "--socket";
	case EROFS:
		return "; choose a place that can be written with --socket";
	default:
		return "";
	}
}
