/* SPDX-License-Identifier: Apache-2.0
 * Takes it for granted that there is an extension. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  const bg_schedule *schedule = host->extension(host, BG_EXT_SCHEDULE);
  size_t             total = 0;
  schedule->pending(host, 0, 0, &total);
  return succeed(plugin, info);
}
RUNS(BG_TASK_MAY_BLOCK, start)
