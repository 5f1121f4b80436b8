/* SPDX-License-Identifier: Apache-2.0
 * A constructor starts a thread. */
#include "author.h"

static void *linger(void *ignored) {
  (void)ignored;
  poll(0, 0, 200);
  return 0;
}
__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  pthread_create(&thread, 0, linger, 0);
  pthread_detach(thread);
}
RUNS(BG_TASK_MAY_BLOCK, succeed)
