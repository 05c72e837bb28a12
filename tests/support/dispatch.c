/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a reader as an event loop does. */
#include "tests/support/dispatch.h"

#include <poll.h>

#include "tests/room.h"

void
dispatch_all(struct informer *inf)
{
	struct pollfd news = {.fd = informer_fd(inf), .events = POLLIN};

	do
		while (informer_dispatch(inf) > 0)
			;
	while (poll(&news, 1, 0) > 0);
}

bool
dispatch_turn(struct informer *inf)
{
	struct pollfd news = {.fd = informer_fd(inf), .events = POLLIN};
	bool came = poll(&news, 1, 1) > 0;

	dispatch_all(inf);
	return came;
}

void
dispatch_until_connected(struct informer *inf, bool connected)
{
	struct informer_status status = {.size = sizeof(status)};

	DISPATCH_UNTIL(inf, informer_status(inf, &status) == 0 && status.connected == connected);
}

void
assert_error_text(int code, const char *part)
{
	char text[1024] = "";

	informer_error_text(code, text, sizeof(text));
	if (!strstr(text, part))
		fail_msg("'%s' does not say '%s'", text, part);
}
