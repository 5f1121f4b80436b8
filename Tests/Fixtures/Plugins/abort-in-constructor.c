/* SPDX-License-Identifier: Apache-2.0
 * It aborts while it is being loaded. Only its worker dies; the host names it and the signal. */
#include <stdlib.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.abort-in-constructor;runtime=c");

__attribute__((constructor)) static void begin(void) {
  abort();
}

static const bg_plugin plugin = GOOD_PLUGIN("test.abort-in-constructor");
ENTRY(&plugin)
