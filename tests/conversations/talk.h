/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays a conversation: the script's lines, one by one, between the server (played_server.h) and the client
 * (client.h). Before each line both have come to rest: what was sent has arrived, what arrived is done, and
 * nothing more happens unless time passes. So every line is looked at once, and no line waits for luck. What
 * nobody expected ends the play.
 *
 * Threads: the test's one.
 */
#ifndef TESTS_CONVERSATIONS_TALK_H
#define TESTS_CONVERSATIONS_TALK_H

#include "tests/conversations/client.h"
#include "tests/conversations/script.h"

/*
 * wire        what the client asks for. Protobuf it may not give up, unless the script is for that alone
 * dice, seed  what the client's chance says
 * Returns     0, or -EINVAL with a report: file and line, what came and what was expected, the conversation
 *             up to there, what the client logged. Free it.
 */
int talk_play(const struct script *script, enum talk_wire wire, enum talk_dice dice, uint64_t seed,
	      char **ret_report);

#endif
