/* SPDX-License-Identifier: Apache-2.0
 * A text that is not what it must be: TEXT, by default not UTF-8. FIELD says which. The host
 * refuses it and shows it escaped. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.non-utf8-strings;runtime=c");

#ifndef FIELD
#define FIELD plugin.vendor
#endif

static bg_task task = GOOD_TASK;
static const bg_task *const tasks[] = { &task };
static bg_plugin plugin = GOOD_PLUGIN("test.non-utf8-strings");

#ifndef TEXT
#define TEXT "caf\xe9"
#endif

const bg_plugin *bghost_plugin_v1(const bg_host *host) {
  (void)host;
  plugin.tasks = tasks;
  FIELD = (bg_str)BG_LIT(TEXT);
  return &plugin;
}
