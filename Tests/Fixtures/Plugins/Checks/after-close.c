/* SPDX-License-Identifier: Apache-2.0
 * A thread logs once more after close(). */
#include "author.h"

static void *log_later(void *ignored) {
  (void)ignored;
  poll(0, 0, 100);
  host->log(host, 0, 2, (bg_str)BG_LIT("closed"));
  return 0;
}
static void end(void *plugin) {
  pthread_t thread;
  (void)plugin;
  if (pthread_create(&thread, 0, log_later, 0) == 0) pthread_detach(thread);
}
PLUGIN(BG_TASK_MAY_BLOCK, NO_SCHEMA, succeed, 0, 0, 0, 0, end);
ENTRY
