/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notify: systemd's readiness protocol, without libsystemd: a datagram to the socket that NOTIFY_SOCKET
 * names.
 *
 * Source    sd_notify(3)
 */
#ifndef WRITER_BASE_NOTIFY_H
#define WRITER_BASE_NOTIFY_H

/*
 * Send a message ("READY=1", "STATUS=…", "STOPPING=1"; several, separated by newlines).
 * Returns   1 sent; 0 nobody wants to know (NOTIFY_SOCKET is not set); negative errno
 */
int notify(const char *message);

/* The same, formatted and cut at 512 bytes. */
int notify_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
