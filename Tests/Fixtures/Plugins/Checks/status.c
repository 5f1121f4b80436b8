/* SPDX-License-Identifier: Apache-2.0
 * Answers a status that means nothing. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  bg_status status = succeed(plugin, info);
  return status == BG_OK ? 7 : status;
}
RUNS(BG_TASK_MAY_BLOCK, start)
