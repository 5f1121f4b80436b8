/* SPDX-License-Identifier: Apache-2.0
 * Reads cancel_fd; with CLOSES, closes it. */
#include "author.h"

static bg_status start(void *plugin, const bg_run_info *info) {
  char bytes[8];
  (void)plugin;
#ifdef CLOSES
  int fd = dup(info->cancel_fd);
  close(info->cancel_fd);
  struct pollfd stop = { fd, POLLIN, 0 };
  int           asked = poll(&stop, 1, 150) > 0;
  close(fd);
  (void)bytes;
  return asked ? BG_E_CANCELLED : BG_OK;
#else
  bg_status status = wait_or_stop(info, 150);
  if (status != BG_OK && read(info->cancel_fd, bytes, sizeof bytes) < 0) return BG_E_FAILED;
  return status;
#endif
}
RUNS(BG_TASK_MAY_BLOCK, start)
