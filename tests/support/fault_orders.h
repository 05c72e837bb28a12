/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The faults ordered between a client and an API server, and the record of what happened
 * (tests/support/prog/fault_proxy.c documents the orders).
 *
 * Threads: all
 */
#ifndef TESTS_SUPPORT_FAULT_ORDERS_H
#define TESTS_SUPPORT_FAULT_ORDERS_H

#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
	FAULT_NONE,
	FAULT_CUT,
	FAULT_MID_FRAME,
	FAULT_TRUNCATE,
	FAULT_INVALID,
	FAULT_ERROR_EVENT,
	FAULT_ANSWER
};

struct fault {
	enum fault_kind kind;
	unsigned code;
	unsigned long after;	/* bytes of the answer */
};

/* Open the record for appending. False: failed. */
bool fault_orders_begin(const char *record_path);

/* Obey an order. False: it is invalid. */
bool fault_orders_obey(const char *order);

/* Add a line to the record, after the time. */
void fault_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * A request begins. Fills in the fault of its answer, and the number of strikes so far. Returns the code to
 * answer in place of the server, or 0.
 */
unsigned fault_meet(const char *verb, struct fault *ret_fault, unsigned *ret_strikes);
/* True if there was another strike, at all open streams; then *ret_fault is the fault. */
bool fault_struck(unsigned *strikes, struct fault *ret_fault);

bool fault_is_slow(void);
bool fault_is_frozen(void);
bool fault_is_refusing(void);

/* The server, and the certificates for its clients. Credentials live as long as the process. */
unsigned fault_upstream(bool *ret_tls);
gnutls_certificate_credentials_t fault_certificates(void);

uint64_t fault_now_ms(void);
void fault_sleep_ms(unsigned ms);

#endif
