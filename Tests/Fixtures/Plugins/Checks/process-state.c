/* SPDX-License-Identifier: Apache-2.0
 * A run changes the working folder. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  if (chdir("/tmp")) return BG_E_FAILED;
  return succeed(plugin, info);
}
RUNS(BG_TASK_MAY_BLOCK, start)
