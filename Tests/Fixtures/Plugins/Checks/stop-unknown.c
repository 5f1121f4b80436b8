/* SPDX-License-Identifier: Apache-2.0
 * Stops for the reasons of 1.0 only. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  (void)plugin;
  for (int n = 0; n < 80; n++) {
    bg_status why = host->cancelled(host, info->run);
    if (why >= (bg_status)BG_WHY_EXPIRED && why <= (bg_status)BG_WHY_QUOTA) return BG_E_CANCELLED;
    poll(0, 0, 10);
  }
  return BG_OK;
}
RUNS(BG_TASK_MAY_BLOCK | BG_TASK_SERIAL, start)
