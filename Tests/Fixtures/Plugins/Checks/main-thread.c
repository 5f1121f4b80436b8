/* SPDX-License-Identifier: Apache-2.0
 * Breaks no rule: it does all its work on the main thread, and does not open without one. */
#include "author.h"

#include <sys/eventfd.h>
#include <sys/syscall.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bg_run          waiting[256];
static unsigned        count;
static int             descriptor = -1;

static void serve(void *context) {
  eventfd_t rings;
  (void)context;
  if (syscall(SYS_gettid) != getpid()) abort();
  eventfd_read(descriptor, &rings);
  for (;;) {
    pthread_mutex_lock(&lock);
    bg_run run = count > 0 ? waiting[--count] : 0;
    pthread_mutex_unlock(&lock);
    if (!run) return;
    /* A result that is too long leaves the run open. */
    if (complete(run, BG_OK, (bg_str)BG_LIT("{\"done\":true}")) == BG_E_LIMIT)
      complete(run, BG_OK, (bg_str){0, 0});
  }
}

static bg_status open_it(const bg_host *given, bg_str config, void **plugin) {
  (void)config;
  (void)plugin;
  const bg_main *main = given->extension(given, BG_EXT_MAIN);
  if (!main) return BG_E_ABSENT;
  if (syscall(SYS_gettid) != getpid()) return BG_E_FAILED;
  if (descriptor < 0) descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return main->serve(given, descriptor, serve, 0);
}

static bg_status start(void *plugin, const bg_run_info *info) {
  (void)plugin;
  pthread_mutex_lock(&lock);
  int fits = count < sizeof waiting / sizeof *waiting;
  if (fits) waiting[count++] = info->run;
  pthread_mutex_unlock(&lock);
  if (!fits) return BG_E_FAILED;
  eventfd_write(descriptor, 1);
  return BG_PENDING;
}
PLUGIN(0, NO_SCHEMA, start, 0, 0, open_it, 0, 0);
ENTRY
