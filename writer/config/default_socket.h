/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where readers attach when neither flag nor file says it; the library and the tools look there, too.
 */
#ifndef WRITER_CONFIG_DEFAULT_SOCKET_H
#define WRITER_CONFIG_DEFAULT_SOCKET_H

/*
 * $INFORMER_SOCKET, else /run/informer/informer.sock, else, when not root and $XDG_RUNTIME_DIR is set,
 * $XDG_RUNTIME_DIR/informer/informer.sock. Allocated; NULL without memory.
 */
char *default_socket(void);

#endif
