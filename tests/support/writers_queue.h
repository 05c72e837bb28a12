/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A handler's queue as the writer has it, in this process. Tests write invalid entries into it, or show it
 * between two of the writer's steps.
 */
#ifndef TESTS_SUPPORT_WRITERS_QUEUE_H
#define TESTS_SUPPORT_WRITERS_QUEUE_H

#include <stdint.h>

#include "shm-layout/queue.h"

/*
 * The last mapped queue with this capacity. Call on the writer's thread (broker_fixture_do()). Fails the test
 * if there is none.
 */
struct queue *writers_queue(uint32_t capacity);

#endif
