/* SPDX-License-Identifier: Apache-2.0
 * Asks for its next run until it gets one, and takes no for an answer only if it is too much. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  const bg_schedule *schedule = host->extension(host, BG_EXT_SCHEDULE);
  bg_request         next = { .size = sizeof next, .task_id = info->task_id };
  bg_status          status = schedule ? schedule->submit(host, &next) : BG_OK;
  while (status != BG_OK && status != BG_E_LIMIT) {
    poll(0, 0, 10);
    status = schedule->submit(host, &next);
  }
  return status == BG_OK ? succeed(plugin, info) : BG_E_RETRY;
}
RUNS(BG_TASK_MAY_BLOCK, start)
