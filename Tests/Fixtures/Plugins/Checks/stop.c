/* SPDX-License-Identifier: Apache-2.0
 * Does not look whether it is to stop. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  (void)plugin;
  (void)info;
  /* Longer than the time before a stop and its grace, shorter than a run's time and its grace. */
  poll(0, 0, 1200);
  return BG_OK;
}
RUNS(BG_TASK_MAY_BLOCK, start)
