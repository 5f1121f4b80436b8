/* SPDX-License-Identifier: Apache-2.0
 * Logs a text of five bytes at address 0; with EXTENSION, asks for a list without its count. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
#ifdef EXTENSION
  const bg_schedule *schedule = host->extension(host, BG_EXT_SCHEDULE);
  if (schedule) schedule->pending(host, 0, 0, 0);
#else
  host->log(host, info->run, 2, (bg_str){ 0, 5 });
#endif
  return succeed(plugin, info);
}
RUNS(BG_TASK_MAY_BLOCK, start)
