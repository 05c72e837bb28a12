/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays a conversation: the script's lines, one by one, between the server (played_server.h) and the client
 * (client.h). Before each line both come to rest (settle.h), so each line is checked once. Anything that the
 * script does not name ends the play.
 *
 * Threads: the test's.
 */
#ifndef TESTS_CONVERSATIONS_TALK_H
#define TESTS_CONVERSATIONS_TALK_H

#include "tests/conversations/client.h"
#include "tests/conversations/script.h"

/*
 * wire        what the client asks for. A fallback to JSON fails the play, unless the script is for protobuf
 * dice, seed  the client's random numbers
 * Returns     0, or -EINVAL with a report: file and line, what came and what was expected, the conversation
 *             so far, the client's log. Free it.
 */
int talk_play(const struct script *script, enum talk_wire wire, enum talk_dice dice, uint64_t seed,
	      char **ret_report);

#endif
