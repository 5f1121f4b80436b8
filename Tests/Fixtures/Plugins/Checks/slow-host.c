/* SPDX-License-Identifier: Apache-2.0
 * Treats a host that three times needs 40 ms for a log line as gone. */
#include "author.h"

#include <time.h>
static long long milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}
static bg_status start(void *plugin, const bg_run_info *info) {
  int slow = 0;
  for (int n = 0; n < 3; n++) {
    long long before = milliseconds();
    host->log(host, info->run, 2, (bg_str)BG_LIT("still there?"));
    slow += milliseconds() - before >= 40;
  }
  return slow == 3 ? BG_PENDING : succeed(plugin, info);
}
RUNS(BG_TASK_MAY_BLOCK, start)
