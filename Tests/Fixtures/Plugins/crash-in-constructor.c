/* SPDX-License-Identifier: Apache-2.0
 * It crashes while it is being loaded. Only its worker dies; the host names it and the signal. */
#include <signal.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.crash-in-constructor;runtime=c");

__attribute__((constructor)) static void begin(void) {
  raise(SIGSEGV);
}

static const bg_plugin plugin = GOOD_PLUGIN("test.crash-in-constructor");
ENTRY(&plugin)
