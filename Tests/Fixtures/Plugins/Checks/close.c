/* SPDX-License-Identifier: Apache-2.0
 * A thread continues after close(); with DESCRIPTOR, a file stays open; with HANG, it never returns. */
#include "author.h"

static void *linger(void *ignored) {
  (void)ignored;
  for (;;) pause();
}
static bg_status begin(const bg_host *given, bg_str config, void **plugin) {
  pthread_t thread;
  (void)given, (void)config, (void)plugin;
#if defined DESCRIPTOR
  (void)thread;
  (void)linger;
  return open("/dev/null", O_RDONLY | O_CLOEXEC) < 0 ? BG_E_FAILED : BG_OK;
#elif defined HANG
  (void)thread;
  (void)linger;
  return BG_OK;
#else
  return pthread_create(&thread, 0, linger, 0) ? BG_E_FAILED : BG_OK;
#endif
}
static void end(void *plugin) {
  (void)plugin;
#ifdef HANG
  for (;;) pause();
#endif
}
PLUGIN(BG_TASK_MAY_BLOCK, NO_SCHEMA, succeed, 0, 0, begin, 0, end);
ENTRY
