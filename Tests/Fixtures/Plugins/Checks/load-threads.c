/* SPDX-License-Identifier: Apache-2.0
 * A constructor starts a thread. With SPINS, it works until the plugin is opened. */
#include "author.h"

static volatile int is_open;

static void *linger(void *ignored) {
  (void)ignored;
#ifdef SPINS
  while (!is_open) {}
#else
  poll(0, 0, 200);
#endif
  return 0;
}
__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  pthread_create(&thread, 0, linger, 0);
  pthread_detach(thread);
}
static bg_status open_it(const bg_host *given, bg_str config, void **plugin) {
  (void)given, (void)config, (void)plugin;
  is_open = 1;
  return BG_OK;
}
PLUGIN(BG_TASK_MAY_BLOCK, NO_SCHEMA, succeed, 0, 0, open_it, 0, 0);
ENTRY
