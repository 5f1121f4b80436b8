/* SPDX-License-Identifier: Apache-2.0
 * A thread continues after close(), with SPINS at work; with DESCRIPTOR, a file stays open; with HANG, it
 * never returns. */
#include <time.h>

#include "author.h"

static volatile int is_closed;

static void *linger(void *ignored) {
  (void)ignored;
#ifdef SPINS
  struct timespec now;
  while (!is_closed) poll(0, 0, 5);
  /* Not for ever: other checks share the machine. */
  do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while (now.tv_sec < 4);
#endif
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
  is_closed = 1;
#ifdef HANG
  for (;;) pause();
#endif
}
PLUGIN(BG_TASK_MAY_BLOCK, NO_SCHEMA, succeed, 0, 0, begin, 0, end);
ENTRY
