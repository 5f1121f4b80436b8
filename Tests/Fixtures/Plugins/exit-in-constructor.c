/* SPDX-License-Identifier: Apache-2.0
 * It calls exit(0) while it is being loaded. The host does not take that for a success. */
#include <stdlib.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.exit-in-constructor;runtime=c");

__attribute__((constructor)) static void begin(void) {
  exit(0);
}

static const bg_plugin plugin = GOOD_PLUGIN("test.exit-in-constructor");
ENTRY(&plugin)
