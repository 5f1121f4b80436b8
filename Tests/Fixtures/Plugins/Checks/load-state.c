/* SPDX-License-Identifier: Apache-2.0
 * A constructor changes the umask. */
#include "author.h"

__attribute__((constructor)) static void begin(void) { umask(0); }
RUNS(BG_TASK_MAY_BLOCK, succeed)
