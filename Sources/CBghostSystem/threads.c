/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_threads.h"

#include "bghost_system.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int bgs_processor(void) { return sched_getcpu(); }

int bgs_processors_of(pid_t thread, struct bgs_processors *out) {
  memset(out, 0, sizeof *out);
  return syscall(SYS_sched_getaffinity, thread, sizeof *out, out) < 0 ? -errno : 0;
}

int bgs_place_thread(pid_t thread, const struct bgs_processors *where) {
  return syscall(SYS_sched_setaffinity, thread, sizeof *where, where) < 0 ? -errno : 0;
}

/* Calls `visit`, if it is not null, for each of the first `max` threads until it returns a negative
 * value. Returns the number of threads, at most max + 1. */
static int for_each_thread(pid_t process, int max, int (*visit)(pid_t, const void *),
                           const void *context) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/task", (int)process);
  DIR *folder = opendir(path);
  if (!folder) return -errno;
  int            count = 0;
  struct dirent *entry;
  while ((entry = readdir(folder))) {
    if (!isdigit((unsigned char)entry->d_name[0])) continue;
    if (count++ == max) break;
    int answer = visit ? visit((pid_t)atoi(entry->d_name), context) : 0;
    if (answer < 0) {
      closedir(folder);
      return answer;
    }
  }
  closedir(folder);
  return count;
}

struct move {
  const struct bgs_processors *from, *to;
};

static int move_thread(pid_t thread, const void *context) {
  const struct move    *move = context;
  struct bgs_processors now;
  if (bgs_processors_of(thread, &now) == 0 && memcmp(&now, move->from, sizeof now) == 0)
    bgs_place_thread(thread, move->to);
  return 0;
}

int bgs_move_threads(pid_t process, const struct bgs_processors *from,
                     const struct bgs_processors *to, int max) {
  struct move move = {from, to};
  if (max < INT_MAX) {
    int count = for_each_thread(process, max, NULL, NULL);
    if (count < 0 || count > max) return count;
  }
  int count = for_each_thread(process, max, move_thread, &move);
  /* Repeat: a thread that was not yet moved may have created others meanwhile, with its own set. */
  return count < 0 ? count : for_each_thread(process, max, move_thread, &move);
}

static int raise_thread(pid_t thread, const void *context) {
  (void)context;
  int answer = bgs_realtime(thread);
  return answer == -ESRCH ? 0 : answer;
}

/* 256 threads suffice: a process with more is not delayed by a few of them. */
int bgs_realtime_threads(pid_t process) {
  return for_each_thread(process, 256, raise_thread, NULL);
}
