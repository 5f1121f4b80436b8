/* SPDX-License-Identifier: Apache-2.0
 * Counts on set_state(). */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  static int state;
  (void)plugin;
  if (host->set_state(host, info->run, &state) != BG_OK) return BG_PENDING;
  return BG_OK;
}
RUNS(BG_TASK_MAY_BLOCK, start)
