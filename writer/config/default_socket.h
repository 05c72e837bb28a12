/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The default socket, used when neither flag nor file names one. The library and the tools use the same rule.
 */
#ifndef WRITER_CONFIG_DEFAULT_SOCKET_H
#define WRITER_CONFIG_DEFAULT_SOCKET_H

/*
 * $INFORMER_SOCKET; else $XDG_RUNTIME_DIR/informer/informer.sock, when that variable is set and the user is
 * not root; else /run/informer/informer.sock. Allocated; NULL: no memory.
 */
char *default_socket(void);

#endif
