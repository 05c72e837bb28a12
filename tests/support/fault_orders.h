/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to go wrong between a client and an API server, as it was ordered, and the record of what did
 * (tests/support/prog/fault_proxy.c, which has the orders' words).
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

/* Begin with a file to append the record to. False: it cannot be opened. */
bool fault_orders_begin(const char *record_path);

/* Obey one. False: it is none. */
bool fault_orders_obey(const char *order);

/* A line of the record; the time goes in front. */
void fault_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * A request begins: what goes wrong with its answer, and the number of strikes until now. Returns the code to
 * answer with instead of the server, or 0.
 */
unsigned fault_meet(const char *verb, struct fault *ret_fault, unsigned *ret_strikes);
/* Was there another strike, at all streams that are open? Then it is *ret_fault. */
bool fault_struck(unsigned *strikes, struct fault *ret_fault);

bool fault_is_slow(void);
bool fault_is_frozen(void);
bool fault_is_refusing(void);

/* The server, and what to show its clients; credentials live as long as the process. */
unsigned fault_upstream(bool *ret_tls);
gnutls_certificate_credentials_t fault_certificates(void);

uint64_t fault_now_ms(void);
void fault_sleep_ms(unsigned ms);

#endif
