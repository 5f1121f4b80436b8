/* SPDX-License-Identifier: Apache-2.0
 * Completes each run twice; with AFTER_RETURN, by its return value and then by complete(). */
#include "author.h"

#ifdef AFTER_RETURN
static pthread_t thread;
static bg_run    run;

static void *finish(void *ignored) {
  (void)ignored;
  poll(0, 0, 20);
  complete(run, BG_OK, NOTHING);
  return 0;
}

static bg_status start(void *plugin, const bg_run_info *info) {
  (void)plugin;
  if (run) pthread_join(thread, 0);
  run = info->run;
  return pthread_create(&thread, 0, finish, 0) ? BG_E_FAILED : BG_OK;
}
static void shut(void *plugin) {
  (void)plugin;
  if (run) pthread_join(thread, 0);
  run = 0;
}
PLUGIN(BG_TASK_SERIAL, NO_SCHEMA, start, 0, 0, 0, 0, shut);
ENTRY
#else
static bg_status start(void *plugin, const bg_run_info *info) {
  (void)plugin;
  complete(info->run, BG_OK, NOTHING);
  complete(info->run, BG_OK, NOTHING);
  return BG_PENDING;
}
RUNS(BG_TASK_SERIAL, start)
#endif
