/* SPDX-License-Identifier: Apache-2.0
 * Breaks no rule. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  (void)plugin;
  bg_status status = wait_or_stop(info, 40);
  if (status != BG_OK) return status;
  return complete(info->run, BG_OK, (bg_str)BG_LIT("{\"done\":true}")) == BG_OK ? BG_PENDING
                                                                               : BG_E_FAILED;
}
RUNS(BG_TASK_MAY_BLOCK, start)
