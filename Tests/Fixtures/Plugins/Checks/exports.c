/* SPDX-License-Identifier: Apache-2.0
 * Exports a name of libc's, so that its own calls go there. */
#include "author.h"

BG_EXPORT int usleep(useconds_t time) {
  (void)time;
  return 0;
}
RUNS(BG_TASK_MAY_BLOCK, succeed)
