/* SPDX-License-Identifier: Apache-2.0
 * Handlers that start processes and leave them behind. */
#ifndef MISBEHAVE_CHILDREN_H
#define MISBEHAVE_CHILDREN_H

#include <sys/wait.h>

#include "misbehave.h"

/* Forks up to 32 children that stay and logs each. No child outlives the run's worker. */
static bg_status fork_many(const bg_run_info *info, int own_session) {
  int count = 0;
  for (; count < 32; count++) {
    pid_t child = fork();
    if (child < 0) break;
    if (child == 0) {
      if (own_session) setsid();
      /* A last resort, if the host does not kill it. */
      alarm(60);
      for (;;) pause();
    }
    char line[32];
    snprintf(line, sizeof line, "child %d", (int)child);
    say(info->run, line);
  }
  char line[32];
  snprintf(line, sizeof line, "forked %d", count);
  say(info->run, line);
  return BG_PENDING;
}

/* killed(processes) or killed(graceExceeded) */
HANDLER(fork_in_group) {
  (void)plugin;
  return fork_many(info, 0);
}

/* the same; a process group is not enough to find these */
HANDLER(fork_children) {
  (void)plugin;
  return fork_many(info, 1);
}

/* killed(processes): it never stops by itself. Bounded, in case the host does not kill it. */
HANDLER(fork_without_end) {
  UNUSED;
  for (int count = 0; count < 4096; count++) {
    pid_t child = fork();
    if (child < 0) poll(0, 0, 1);
    if (child == 0) {
      alarm(60);
      for (;;) pause();
    }
  }
  return BG_PENDING;
}

/* killed(processes): the same, with processes that leave its tree as daemons do */
HANDLER(daemonize_without_end) {
  UNUSED;
  for (int count = 0; count < 4096; count++) {
    pid_t child = fork();
    if (child == 0) {
      setsid();
      if (fork() != 0) _exit(0);
      alarm(60);
      for (;;) pause();
    }
    if (child > 0) waitpid(child, 0, 0);
  }
  return BG_PENDING;
}

/* crashed(SIGSEGV), and leaves two processes in sessions of their own: a child of the worker, and one
 * whose parent has ended. Logs "left PID" for each before. */
static bg_status leave_daemons(const bg_run_info *info) {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return BG_E_FAILED;
  for (int times = 1; times <= 2; times++) {
    pid_t child = fork();
    if (child < 0) return BG_E_FAILED;
    if (child == 0) {
      setsid();
      if (times == 2 && fork() != 0) _exit(0);
      pid_t self = getpid();
      if (write(pipes[1], &self, sizeof self) != sizeof self) _exit(1);
      alarm(60);
      for (;;) pause();
    }
    pid_t left = 0;
    char  line[32];
    if (read(pipes[0], &left, sizeof left) != sizeof left) return BG_E_FAILED;
    snprintf(line, sizeof line, "left %d", (int)left);
    say(info->run, line);
  }
  /* Long enough to be worth a look at what it leaves. */
  poll(0, 0, 5);
  close(pipes[0]);
  close(pipes[1]);
  return BG_OK;
}

HANDLER(crash_with_daemons) {
  (void)plugin;
  leave_daemons(info);
  volatile int *volatile nowhere = (volatile int *)16;
  *nowhere = 1;
  return BG_OK;
}

/* succeeded; what it leaves is ended with its worker, which is not used again */
HANDLER(succeed_with_daemons) {
  (void)plugin;
  return leave_daemons(info);
}

/* cancelledClean; its daemons are there as long as it runs, whatever becomes of other runs */
HANDLER(run_with_daemons) {
  (void)plugin;
  return leave_daemons(info) == BG_OK ? BG_PENDING : BG_E_FAILED;
}

#endif
