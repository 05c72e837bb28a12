/* SPDX-License-Identifier: Apache-2.0 */
/* A timer sends WATCHDOG=1; see watchdog.h. */
#include "writer/base/watchdog.h"

#include <stdlib.h>
#include <unistd.h>

#include "writer/base/notify.h"
#include "writer/base/number.h"

static void
on_time(uv_timer_t *timer)
{
	(void)timer;
	notify("WATCHDOG=1");
}

/* A variable's number; 0: it is not set, or no number. */
static uint64_t
number_of(const char *variable)
{
	const char *text = getenv(variable);
	uint64_t number = 0;

	return text && number_parse(text, UINT64_MAX, &number, NULL) == 0 ? number : 0;
}

void
watchdog_begin(uv_loop_t *loop, uv_timer_t *timer)
{
	uint64_t ms = number_of("WATCHDOG_USEC") / 1000 / 3, pid = number_of("WATCHDOG_PID");

	uv_timer_init(loop, timer);
	uv_unref((uv_handle_t *)timer);
	if (ms > 0 && (pid == 0 || pid == (uint64_t)getpid()))
		uv_timer_start(timer, on_time, ms, ms);
}
