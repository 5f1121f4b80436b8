/* SPDX-License-Identifier: Apache-2.0
 * Its close() never returns. The host gives up on it after a moment and leaves it. */
#include <unistd.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.hang-in-close;runtime=c");

static void close_(void *plugin) {
  (void)plugin;
  for (;;) pause();
}

static const bg_plugin plugin = {
  sizeof plugin, 1, 0, BG_LIT("test.hang-in-close"), { 0, 0 }, { 0, 0 }, 0, 1, good_tasks,
  0, 0, close_,
};
ENTRY(&plugin)
