/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notify speaks systemd's readiness protocol without libsystemd: it sends a datagram to the socket in
 * NOTIFY_SOCKET.
 *
 * Source    sd_notify(3)
 */
#ifndef WRITER_BASE_NOTIFY_H
#define WRITER_BASE_NOTIFY_H

/*
 * Send a message ("READY=1", "STATUS=…", "STOPPING=1"; several, separated by newlines).
 * Returns   1 sent; 0 NOTIFY_SOCKET is not set; negative errno
 */
int notify(const char *message);

/* The same, formatted and cut at 512 bytes. */
int notify_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
