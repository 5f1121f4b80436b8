/* SPDX-License-Identifier: Apache-2.0
 * It starts processes while it is loaded, and one that leaves its worker's group. They are gone with their worker at
 * the latest. */
#include <stdio.h>
#include <unistd.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.fork-in-constructor;runtime=c");

__attribute__((constructor)) static void begin(void) {
  int count = 0;
  for (int times = 0; times < 4; times++) {
    pid_t child = fork();
    if (child == 0) {
      if (times == 0) setsid();
      /* A last resort, if the host does not kill it. */
      alarm(60);
      for (;;) pause();
    }
    count += child > 0;
  }
  printf("forked %d\n", count);
  fflush(stdout);
}

static const bg_plugin plugin = GOOD_PLUGIN("test.fork-in-constructor");
ENTRY(&plugin)
