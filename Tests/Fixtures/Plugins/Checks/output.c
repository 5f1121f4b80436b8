/* SPDX-License-Identifier: Apache-2.0
 * A run writes to stdout. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  printf("working\n");
  return succeed(plugin, info);
}
RUNS(BG_TASK_MAY_BLOCK, start)
