/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells a kubeconfig that is wrong from one that is not written to its end yet. An informerd that starts
 * beside the program that writes its kubeconfig waits for the file.
 */
#ifndef WRITER_KUBE_KUBECONFIG_UNFINISHED_H
#define WRITER_KUBE_KUBECONFIG_UNFINISHED_H

#include "writer/kube/kubeconfig.h"

/* A wrong file that did not change for this long is complete. */
#define KUBECONFIG_SETTLE_MS 2000u

/*
 * After kubeconfig_load() failed: find a file that --kubeconfig or $KUBECONFIG names and that may not be
 * complete. Such a file was changed less than KUBECONFIG_SETTLE_MS ago. Or the files are all missing or
 * empty. ~/.kube/config does not count: without a named file nothing announces that a kubeconfig will come.
 *
 * now_wall_ns  CLOCK_REALTIME, the clock of file times
 * ret_path     the file; set on success only, free() it
 * Returns      why the file counts as incomplete, static, to stand behind "PATH: "; NULL: no such file, or no
 *              memory
 */
const char *kubeconfig_unfinished(const struct kubeconfig_choice *choice, uint64_t now_wall_ns,
				  char **ret_path);

#endif
