/* SPDX-License-Identifier: Apache-2.0
 * It never finishes loading. The host kills its worker once the time to start is over. */
#include <unistd.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.hang-in-constructor;runtime=c");

__attribute__((constructor)) static void begin(void) {
  for (;;) pause();
}

static const bg_plugin plugin = GOOD_PLUGIN("test.hang-in-constructor");
ENTRY(&plugin)
