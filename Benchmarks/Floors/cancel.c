/* SPDX-License-Identifier: Apache-2.0
 * From a deadline to the moment at which another process has been told. */
#include "floors.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* Answers each message with the time at which it came. */
static void stamp_messages(int fd) {
  uint64_t time;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (recv(fd, &time, sizeof time, 0) > 0) {
    time = now_ns();
    if (send(fd, &time, sizeof time, MSG_NOSIGNAL) < 0) break;
  }
  _exit(0);
}

int cancel(int argc, char **argv) {
  if (argc != 1) return 64;
  size_t count = strtoul(argv[0], NULL, 10);
  int    pair[2], timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  uint64_t *samples = calloc(count + 1, sizeof *samples);
  if (!samples || timer < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0) die("prepare");
  pid_t peer = fork();
  if (peer < 0) die("fork");
  if (peer == 0) {
    close(pair[0]);
    stamp_messages(pair[1]);
  }
  close(pair[1]);
  for (size_t i = 0; i < count; i++) {
    uint64_t told, deadline = pass_deadline(timer);
    if (send(pair[0], &deadline, sizeof deadline, MSG_NOSIGNAL) < 0) die("send");
    if (recv(pair[0], &told, sizeof told, 0) <= 0) die("receive");
    samples[i] = told - deadline;
  }
  report(samples, count);
  free(samples);
  close(pair[0]);
  reap(peer);
  return 0;
}
