/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_system.h"

#include <errno.h>
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

uint64_t bgs_monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int64_t bgs_realtime_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000000 + now.tv_nsec;
}

void bgs_timer_slack_min(void) { prctl(PR_SET_TIMERSLACK, 1UL); }
