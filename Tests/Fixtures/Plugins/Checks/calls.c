/* SPDX-License-Identifier: Apache-2.0
 * Logs a text of five bytes at address 0. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  host->log(host, info->run, 2, (bg_str){ 0, 5 });
  return succeed(plugin, info);
}
RUNS(BG_TASK_MAY_BLOCK, start)
