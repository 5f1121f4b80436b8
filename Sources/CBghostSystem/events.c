/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_system.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#define ANSWER(call) ((call) < 0 ? -errno : 0)

int bgs_epoll_create(void) {
  int fd = epoll_create1(EPOLL_CLOEXEC);
  return fd < 0 ? -errno : fd;
}

static int control(int epoll, int op, int fd, uint32_t events, uint64_t token) {
  struct epoll_event event = {.events = events, .data.u64 = token};
  return ANSWER(epoll_ctl(epoll, op, fd, &event));
}

int bgs_epoll_add(int epoll, int fd, uint32_t events, uint64_t token) {
  return control(epoll, EPOLL_CTL_ADD, fd, events, token);
}

int bgs_epoll_remove(int epoll, int fd) { return control(epoll, EPOLL_CTL_DEL, fd, 0, 0); }

int bgs_epoll_wait(int epoll, struct bgs_ready *ready, int capacity, int64_t timeout_ns) {
  struct epoll_event events[64];
  struct timespec timeout = {timeout_ns / 1000000000, timeout_ns % 1000000000};
  if (capacity > 64) capacity = 64;
  int n = epoll_pwait2(epoll, events, capacity, timeout_ns < 0 ? NULL : &timeout, NULL);
  if (n < 0) return errno == EINTR ? 0 : -errno;
  for (int i = 0; i < n; i++) {
    ready[i].token = events[i].data.u64;
    ready[i].events = events[i].events;
  }
  return n;
}

int bgs_clock_watch(void) {
  int fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  if (fd < 0) return -errno;
  int answer = bgs_clock_watch_arm(fd);
  if (answer == 0) return fd;
  close(fd);
  return answer;
}

int bgs_clock_watch_arm(int fd) {
  /* A date that the clock never reaches: only a change of the clock makes the descriptor
   * readable. */
  struct itimerspec never = {.it_value.tv_sec = 1LL << 40};
  return ANSWER(timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL));
}

int bgs_timer(void) {
  int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  return fd < 0 ? -errno : fd;
}

static struct timespec span(uint64_t ns) {
  return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                           .tv_nsec = (long)(ns % 1000000000u)};
}

int bgs_timer_arm(int fd, uint64_t first_ns, uint64_t period_ns) {
  struct itimerspec times = {.it_value = span(first_ns), .it_interval = span(period_ns)};
  return ANSWER(timerfd_settime(fd, 0, &times, NULL));
}

int bgs_timer_drain(int fd) {
  uint64_t count;
  return ANSWER(read(fd, &count, sizeof count));
}

int bgs_clock_is_kept(void) {
  /* With no mode set, the call changes nothing and needs no privilege. */
  struct timex state = {0};
  if (adjtimex(&state) < 0) return -errno;
  return (state.status & STA_UNSYNC) == 0;
}

int bgs_eventfd(void) {
  int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return fd < 0 ? -errno : fd;
}

int bgs_eventfd_signal(int fd) {
  uint64_t one = 1;
  return ANSWER(write(fd, &one, sizeof one));
}

int bgs_eventfd_drain(int fd) {
  uint64_t count;
  return ANSWER(read(fd, &count, sizeof count));
}

static int64_t nanoseconds(clockid_t clock) {
  struct timespec now;
  if (clock_gettime(clock, &now) < 0) return -1;
  return now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The kernel always has these clocks. */
uint64_t bgs_monotonic_ns(void) { return (uint64_t)nanoseconds(CLOCK_MONOTONIC); }
uint64_t bgs_monotonic_coarse_ns(void) { return (uint64_t)nanoseconds(CLOCK_MONOTONIC_COARSE); }
int64_t bgs_realtime_ns(void) { return nanoseconds(CLOCK_REALTIME); }
uint64_t bgs_process_cpu_ns(void) { return (uint64_t)nanoseconds(CLOCK_PROCESS_CPUTIME_ID); }
uint64_t bgs_thread_cpu_ns(void) { return (uint64_t)nanoseconds(CLOCK_THREAD_CPUTIME_ID); }

int64_t bgs_uptime_ns(void) { return nanoseconds(CLOCK_BOOTTIME); }

int bgs_condition_wait(void *condition, void *mutex, uint64_t deadline_ns) {
  struct timespec limit = {
      .tv_sec = (time_t)(deadline_ns / 1000000000u),
      .tv_nsec = (long)(deadline_ns % 1000000000u),
  };
  return pthread_cond_timedwait(condition, mutex, &limit);
}

int bgs_semaphore_wait(void *semaphore, uint32_t seconds) {
  struct timespec limit;
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += seconds;
  while (sem_clockwait(semaphore, CLOCK_MONOTONIC, &limit) < 0) {
    if (errno != EINTR) return -errno;
  }
  return 0;
}

void bgs_timer_slack_min(void) { prctl(PR_SET_TIMERSLACK, 1UL); }
