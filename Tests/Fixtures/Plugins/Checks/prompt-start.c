/* SPDX-License-Identifier: Apache-2.0
 * The first runs block start() for 350 ms, without saying that they may. */
#include "author.h"

static int count;

static bg_status start(void *plugin, const bg_run_info *info) {
  (void)plugin;
  return count++ < 3 ? wait_or_stop(info, 350) : BG_OK;
}
RUNS(0, start)
