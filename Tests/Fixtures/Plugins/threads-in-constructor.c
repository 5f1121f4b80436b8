/* SPDX-License-Identifier: Apache-2.0
 * It starts threads in a constructor. They end with its worker. */
#include <pthread.h>
#include <unistd.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.threads-in-constructor;runtime=c");

static void *idle(void *nothing) {
  for (;;) pause();
  return nothing;
}

__attribute__((constructor)) static void begin(void) {
  for (int i = 0; i < 8; i++) {
    pthread_t thread;
    pthread_create(&thread, 0, idle, 0);
  }
}

static const bg_plugin plugin = GOOD_PLUGIN("test.threads-in-constructor");
ENTRY(&plugin)
