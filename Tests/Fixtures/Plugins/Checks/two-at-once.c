/* SPDX-License-Identifier: Apache-2.0
 * open() takes the data folder for itself, and close() gives it back; with IN_RUN, a run does. */
#include "author.h"

#include <sys/file.h>
static int lock = -1;

#ifdef IN_RUN
static bg_status start(void *plugin, const bg_run_info *info) {
  if (lock < 0) {
    int folder = open(info->data_dir.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return BG_E_FAILED;
    lock = openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    close(folder);
    if (lock < 0 || flock(lock, LOCK_EX)) return BG_E_FAILED;
  }
  return succeed(plugin, info);
}
#define begin 0
#else
#define start succeed
static bg_status begin(const bg_host *given, bg_str config, void **plugin) {
  (void)given, (void)config, (void)plugin;
  char path[4096];
  snprintf(path, sizeof path, "%s/lock", getenv("HOME"));
  lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  return lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 ? BG_OK : BG_E_FAILED;
}
#endif
static void end(void *plugin) {
  (void)plugin;
  if (lock >= 0) close(lock);
  lock = -1;
}
PLUGIN(BG_TASK_MAY_BLOCK | BG_TASK_SERIAL, NO_SCHEMA, start, 0, 0, begin, 0, end);
ENTRY
