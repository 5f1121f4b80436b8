/* SPDX-License-Identifier: Apache-2.0
 * A run has SIGPIPE ignored. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  signal(SIGPIPE, SIG_IGN);
  return succeed(plugin, info);
}
RUNS(BG_TASK_MAY_BLOCK, start)
