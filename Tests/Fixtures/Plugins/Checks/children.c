/* SPDX-License-Identifier: Apache-2.0
 * A run leaves a process behind. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  if (fork() == 0)
    for (;;) pause();
  return succeed(plugin, info);
}
RUNS(BG_TASK_MAY_BLOCK | BG_TASK_SERIAL, start)
