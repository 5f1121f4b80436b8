/* SPDX-License-Identifier: Apache-2.0
 * Has room for parameters of 100 bytes. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  if (info->params.len > 100) abort();
  return succeed(plugin, info);
}
RUNS(BG_TASK_MAY_BLOCK, start)
