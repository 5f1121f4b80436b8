/* SPDX-License-Identifier: Apache-2.0
 * HOW says how its run goes wrong; else it never ends. */
#include "author.h"

#ifndef HOW
#define HOW return BG_PENDING
#endif
static bg_status start(void *plugin, const bg_run_info *info) {
  (void)plugin;
  (void)info;
  HOW;
  return BG_OK;
}
RUNS(BG_TASK_MAY_BLOCK, start)
