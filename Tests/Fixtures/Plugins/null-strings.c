/* SPDX-License-Identifier: Apache-2.0
 * A text of 12 bytes at address 0. FIELD says which. The host refuses it. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.null-strings;runtime=c");

#ifndef FIELD
#define FIELD plugin.vendor
#endif

static bg_task task = GOOD_TASK;
static const bg_task *const tasks[] = { &task };
static bg_plugin plugin = GOOD_PLUGIN("test.null-strings");

const bg_plugin *bghost_plugin_v1(const bg_host *host) {
  (void)host;
  plugin.tasks = tasks;
  FIELD = (bg_str){ 0, 12 };
  return &plugin;
}
