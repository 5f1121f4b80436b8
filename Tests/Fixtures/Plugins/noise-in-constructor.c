/* SPDX-License-Identifier: Apache-2.0
 * It writes to stdout and stderr while it is being loaded. The host loads it; both lines are in
 * the log, and neither reaches the protocol. */
#include <stdio.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.noise-in-constructor;runtime=c");

__attribute__((constructor)) static void begin(void) {
  printf("noise on stdout\n");
  fflush(stdout);
  fprintf(stderr, "noise on stderr\n");
}

static const bg_plugin plugin = GOOD_PLUGIN("test.noise-in-constructor");
ENTRY(&plugin)
