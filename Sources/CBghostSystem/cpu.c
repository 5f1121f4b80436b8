/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_system.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

int bgs_cpu_ns(pid_t pid, int64_t *out) {
  /* The clock id that clock_getcpuclockid() would return. That function makes a system call to
   * check that the process exists; clock_gettime() reports that too. 2 is the scheduler's clock. */
  clockid_t clock = (clockid_t)(((unsigned)~pid << 3) | 2u);
  struct timespec used;
  if (clock_gettime(clock, &used) < 0) return -errno;
  *out = used.tv_sec * 1000000000 + used.tv_nsec;
  return 0;
}

int bgs_cpu_timer(pid_t pid, pid_t tid, int number, int value, int64_t period_ns, void **timer) {
  clockid_t clock;
  int error = clock_getcpuclockid(pid, &clock);
  if (error) return -error;
  struct sigevent event;
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_notify_thread_id = tid;
  event.sigev_signo = number;
  event.sigev_value.sival_int = value;
  timer_t created;
  if (timer_create(clock, &event, &created) < 0) return -errno;
  struct timespec period = {period_ns / 1000000000, period_ns % 1000000000};
  struct itimerspec setting = {.it_interval = period, .it_value = period};
  if (timer_settime(created, 0, &setting, NULL) < 0) {
    error = errno;
    timer_delete(created);
    return -error;
  }
  *timer = (void *)created;
  return 0;
}

void bgs_cpu_timer_delete(void *timer) { timer_delete((timer_t)timer); }

int bgs_signalfd(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  int error = pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (error) return -error;
  int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  return fd < 0 ? -errno : fd;
}

int bgs_signalfd_read(int fd, int *values, int capacity) {
  struct signalfd_siginfo infos[16];
  if (capacity > 16) capacity = 16;
  ssize_t count = read(fd, infos, (size_t)capacity * sizeof *infos);
  if (count < 0) return errno == EAGAIN || errno == EINTR ? 0 : -errno;
  int n = (int)((size_t)count / sizeof *infos);
  for (int i = 0; i < n; i++) values[i] = infos[i].ssi_int;
  return n;
}

int bgs_cpu_timer_signal(void) { return SIGRTMIN + 3; }
