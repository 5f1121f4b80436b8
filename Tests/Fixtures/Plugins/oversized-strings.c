/* SPDX-License-Identifier: Apache-2.0
 * A text of 1 MiB; with LENGTH, one that only claims this length. FIELD says
 * which. The host refuses it without copying it. */
#include <string.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.oversized-strings;runtime=c");

#ifndef FIELD
#define FIELD plugin.vendor
#endif

static bg_task task = GOOD_TASK;
static const bg_task *const tasks[] = { &task };
static bg_plugin plugin = GOOD_PLUGIN("test.oversized-strings");
static char text[1 << 20];

#ifndef LENGTH
#define LENGTH (sizeof text)
#endif

__attribute__((constructor)) static void fill(void) { memset(text, 'a', sizeof text); }

const bg_plugin *bghost_plugin_v1(const bg_host *host) {
  (void)host;
  plugin.tasks = tasks;
  FIELD = (bg_str){ text, LENGTH };
  return &plugin;
}
