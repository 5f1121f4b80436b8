/* SPDX-License-Identifier: Apache-2.0
 * Logs when a thread ends that had called start(); CRASHES, HANGS: what happens then instead. */
#include "author.h"

static pthread_key_t key;

static void thread_end(void *ignored) {
  (void)ignored;
#ifdef CRASHES
  abort();
#elif defined HANGS
  for (;;) pause();
#else
  host->log(host, 0, 2, (bg_str)BG_LIT("one thread less"));
#endif
}
static bg_status start(void *plugin, const bg_run_info *info) {
  pthread_setspecific(key, &key);
  return succeed(plugin, info);
}
static bg_status begin(const bg_host *given, bg_str config, void **plugin) {
  (void)given, (void)config, (void)plugin;
  static int has_key;
  if (!has_key) has_key = pthread_key_create(&key, thread_end) == 0;
  return has_key ? BG_OK : BG_E_FAILED;
}
PLUGIN(BG_TASK_MAY_BLOCK, NO_SCHEMA, start, 0, 0, begin, 0, 0);
ENTRY
