/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection of fault_proxy: requests go to the API server, answers come back, and ordered faults
 * (fault_orders.h) are applied.
 *
 * Threads: one for a connection
 */
#ifndef TESTS_SUPPORT_FAULT_RELAY_H
#define TESTS_SUPPORT_FAULT_RELAY_H

/* Call once. token: the server's bearer token, or NULL. Negative: no credentials. */
int fault_relay_begin(const char *token);

/* Serve a client to its end, and close the descriptor. number: its name in the record. */
void fault_relay(int fd, unsigned number);

#endif
