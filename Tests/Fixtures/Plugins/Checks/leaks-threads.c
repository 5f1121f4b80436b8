/* SPDX-License-Identifier: Apache-2.0
 * A run starts a thread and leaves that to close(). */
#include "author.h"

#include <stdatomic.h>
static pthread_t   threads[1 << 12];
static _Atomic int count;
static int         gate[2];

static void *linger(void *ignored) {
  char byte;
  (void)ignored;
  return read(gate[0], &byte, 1) < 0 ? ignored : 0;
}
static bg_status start(void *plugin, const bg_run_info *info) {
  pthread_t thread;
  if (pthread_create(&thread, 0, linger, 0) == 0) threads[count++] = thread;
  return succeed(plugin, info);
}
static bg_status begin(const bg_host *given, bg_str config, void **plugin) {
  (void)given, (void)config, (void)plugin;
  return pipe2(gate, O_CLOEXEC) ? BG_E_FAILED : BG_OK;
}
static void end(void *plugin) {
  (void)plugin;
  close(gate[1]);
  while (count > 0) pthread_join(threads[--count], 0);
  close(gate[0]);
}
PLUGIN(BG_TASK_MAY_BLOCK, NO_SCHEMA, start, 0, 0, begin, 0, end);
ENTRY
