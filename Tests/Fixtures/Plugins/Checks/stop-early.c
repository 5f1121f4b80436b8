/* SPDX-License-Identifier: Apache-2.0
 * Ignores in start() a cancel() that came before. */
#include "author.h"

#include <stdatomic.h>
static _Atomic int stopped;

static bg_status start(void *plugin, const bg_run_info *info) {
  (void)plugin;
  (void)info;
  stopped = 0;
  for (int n = 0; n < 500 && !stopped; n++) poll(0, 0, 10);
  return stopped ? BG_E_CANCELLED : BG_OK;
}
static void cancel(void *plugin, bg_run run, void *state, uint32_t why) {
  (void)plugin, (void)run, (void)state, (void)why;
  stopped = 1;
}
PLUGIN(BG_TASK_MAY_BLOCK | BG_TASK_SERIAL, NO_SCHEMA, start, cancel, 0, 0, 0, 0);
ENTRY
