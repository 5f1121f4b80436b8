/* SPDX-License-Identifier: Apache-2.0
 * Has room for settings of 100 bytes. */
#include "author.h"

static bg_status begin(const bg_host *given, bg_str config, void **plugin) {
  (void)given, (void)plugin;
  if (config.len > 100) abort();
  return BG_OK;
}
PLUGIN(BG_TASK_MAY_BLOCK, NO_SCHEMA, succeed, 0, 0, begin, 0, 0);
ENTRY
