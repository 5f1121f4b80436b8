/* SPDX-License-Identifier: Apache-2.0
 * A text at an address that is not mapped. FIELD says which. The host refuses it and does not
 * fault. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.wild-strings;runtime=c");

#ifndef FIELD
#define FIELD plugin.vendor
#endif

static bg_task task = GOOD_TASK;
static const bg_task *const tasks[] = { &task };
static bg_plugin plugin = GOOD_PLUGIN("test.wild-strings");

const bg_plugin *bghost_plugin_v1(const bg_host *host) {
  (void)host;
  plugin.tasks = tasks;
  FIELD = (bg_str){ (const char *)0x1000, 5 };
  return &plugin;
}
