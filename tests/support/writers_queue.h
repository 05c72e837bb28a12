/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of a handler as the writer has it, where the writer is in this process: for tests that write into
 * it what no informerd would, or show it as it is between two of the writer's steps.
 */
#ifndef TESTS_SUPPORT_WRITERS_QUEUE_H
#define TESTS_SUPPORT_WRITERS_QUEUE_H

#include <stdint.h>

#include "shm-layout/queue.h"

/*
 * The queue with so many entries that was mapped last. On the writer's thread (broker_fixture_do()). Fails
 * the test when there is none.
 */
struct queue *writers_queue(uint32_t capacity);

#endif
