/* SPDX-License-Identifier: Apache-2.0
 * Has as many helpers as there are processors besides its own, and waits for the first of them. */
#include "author.h"

#include <sched.h>
struct work {
  pthread_mutex_t lock;
  pthread_cond_t  changed;
  int             done;
};

static void *help(void *argument) {
  struct work *work = argument;
  pthread_mutex_lock(&work->lock);
  work->done = 1;
  pthread_cond_signal(&work->changed);
  pthread_mutex_unlock(&work->lock);
  return 0;
}
static bg_status start(void *plugin, const bg_run_info *info) {
  struct work work = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 };
  pthread_t   helpers[4];
  cpu_set_t   processors;
  int         count = 0;
  if (sched_getaffinity(0, sizeof processors, &processors)) return BG_E_FAILED;
  while (count < 4 && count < CPU_COUNT(&processors) - 1)
    if (pthread_create(&helpers[count++], 0, help, &work)) return BG_E_FAILED;
  pthread_mutex_lock(&work.lock);
  while (!work.done) pthread_cond_wait(&work.changed, &work.lock);
  pthread_mutex_unlock(&work.lock);
  while (count > 0) pthread_join(helpers[--count], 0);
  return succeed(plugin, info);
}
RUNS(BG_TASK_MAY_BLOCK, start)
