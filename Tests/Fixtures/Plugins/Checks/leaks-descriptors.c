/* SPDX-License-Identifier: Apache-2.0
 * A run opens a file and leaves that to close(). */
#include "author.h"

#include <stdatomic.h>
static int        files[1 << 16];
static _Atomic int count;

static bg_status start(void *plugin, const bg_run_info *info) {
  int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) files[count++] = fd;
  return succeed(plugin, info);
}
static void end(void *plugin) {
  (void)plugin;
  while (count > 0) close(files[--count]);
}
PLUGIN(BG_TASK_MAY_BLOCK, NO_SCHEMA, start, 0, 0, 0, 0, end);
ENTRY
