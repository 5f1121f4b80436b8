/* SPDX-License-Identifier: Apache-2.0
 * Two processes that speak over a socket pair, and do nothing else. */
#include "floors.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { start_bytes = 128, reply_bytes = 32, window = 256 };

/* Answers each message with a shorter one until the other end is closed. */
static void echo(int fd) {
  char buffer[start_bytes];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (recv(fd, buffer, sizeof buffer, 0) > 0)
    if (send(fd, buffer, reply_bytes, MSG_NOSIGNAL) < 0) break;
  _exit(0);
}

static pid_t start_peer(int type, const char *where, int *fd) {
  int pair[2];
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) < 0) die("make a socket pair");
  pid_t pid = fork();
  if (pid < 0) die("fork");
  int peer_cpu = strcmp(where, "one") == 0 ? 0 : strcmp(where, "two") == 0 ? 1 : -1;
  if (pid == 0) {
    close(pair[0]);
    pin(peer_cpu);
    echo(pair[1]);
  }
  close(pair[1]);
  pin(peer_cpu < 0 ? -1 : 0);
  *fd = pair[0];
  return pid;
}

int roundtrip(int argc, char **argv) {
  if (argc != 3) return 64;
  int    type = strcmp(argv[0], "stream") == 0 ? SOCK_STREAM : SOCK_SEQPACKET;
  size_t count = strtoul(argv[2], NULL, 10), warm = count / 10 + 1;
  int    fd;
  pid_t  peer = start_peer(type, argv[1], &fd);
  char   buffer[start_bytes] = {0};
  uint64_t *samples = calloc(count + 1, sizeof *samples);
  if (!samples) die("allocate");
  for (size_t i = 0; i < count + warm; i++) {
    uint64_t before = now_ns();
    if (send(fd, buffer, sizeof buffer, MSG_NOSIGNAL) < 0) die("send");
    if (recv(fd, buffer, reply_bytes, 0) <= 0) die("receive");
    if (i >= warm) samples[i - warm] = now_ns() - before;
  }
  report(samples, count);
  free(samples);
  close(fd);
  reap(peer);
  return 0;
}

/* One submitter, at most `window` messages without their answer. */
int throughput(int argc, char **argv) {
  if (argc != 2) return 64;
  size_t count = strtoul(argv[1], NULL, 10), sent = 0, received = 0;
  int    fd;
  pid_t  peer = start_peer(SOCK_SEQPACKET, argv[0], &fd);
  char   buffer[start_bytes] = {0};
  uint64_t before = now_ns();
  while (received < count) {
    while (sent < count && sent - received < window) {
      if (send(fd, buffer, sizeof buffer, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
        if (errno == EAGAIN) break;
        die("send");
      }
      sent++;
    }
    int wait = 0;
    while (recv(fd, buffer, sizeof buffer, wait) > 0) {
      received++;
      wait = MSG_DONTWAIT;
      if (received == sent) break;
    }
  }
  printf("per-second %.0f\n", (double)count * 1e9 / (double)(now_ns() - before));
  close(fd);
  reap(peer);
  return 0;
}
