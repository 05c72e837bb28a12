/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection of a fault_proxy: requests are passed on to the API server, answers back, and what is ordered
 * (fault_orders.h) happens to them.
 *
 * Threads: a connection is served by one
 */
#ifndef TESTS_SUPPORT_FAULT_RELAY_H
#define TESTS_SUPPORT_FAULT_RELAY_H

/* Once. token: what the server asks for, or NULL. Negative: no credentials. */
int fault_relay_begin(const char *token);

/* Serve a client to its end, and close the descriptor. number: its name in the record. */
void fault_relay(int fd, unsigned number);

#endif
