/* SPDX-License-Identifier: Apache-2.0
 * Logs once more when the process exits; HANGS: does not let it exit; CRASHES: ends it so. */
#include "author.h"

static void at_exit(void) {
#ifdef HANGS
  for (;;) pause();
#elif defined CRASHES
  abort();
#else
  host->log(host, 0, 2, (bg_str)BG_LIT("exiting"));
#endif
}
static bg_status begin(const bg_host *given, bg_str config, void **plugin) {
  (void)given, (void)config, (void)plugin;
  static int is_registered;
  if (!is_registered) is_registered = atexit(at_exit) == 0;
  return BG_OK;
}
PLUGIN(BG_TASK_MAY_BLOCK, NO_SCHEMA, succeed, 0, 0, begin, 0, 0);
ENTRY
