/* SPDX-License-Identifier: Apache-2.0
 * From a deadline to the end of what was killed: timerfd, SIGKILL, pidfd. */
#include "floors.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum { group_size = 10, spinners_max = 64 };

static void wait_readable(int fd) {
  struct pollfd wanted = {fd, POLLIN, 0};
  while (poll(&wanted, 1, -1) < 0 && errno == EINTR) {}
}

static int open_pidfd(pid_t pid) {
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  if (fd < 0) die("open a pidfd");
  return fd;
}

static void become_realtime(pid_t id) {
  struct sched_param one = {.sched_priority = 1};
  if (sched_setscheduler(id, SCHED_FIFO, &one) < 0 && id == 0) puts("refused realtime");
}

/* With all of its threads: each must be scheduled to die. */
static void raise_victim(pid_t pid) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *folder = opendir(path);
  if (!folder) die(path);
  for (struct dirent *entry; (entry = readdir(folder));)
    if (entry->d_name[0] != '.') become_realtime(atoi(entry->d_name));
  closedir(folder);
}

/* A child that waits, or spins. It does not inherit a real-time class. */
static pid_t start_victim(int spins) {
  pid_t pid = fork();
  if (pid < 0) die("fork");
  if (pid > 0) return pid;
  struct sched_param zero = {0};
  sched_setscheduler(0, SCHED_OTHER, &zero);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (volatile uint64_t n = 0;; n++)
    if (!spins) pause();
}

/* The same of a program, once it has said something. */
static pid_t start_program(const char *path, int spins) {
  int  ends[2];
  char byte;
  if (pipe(ends) < 0) die("make a pipe");
  pid_t pid = fork();
  if (pid < 0) die("fork");
  if (pid == 0) {
    struct sched_param zero = {0};
    sched_setscheduler(0, SCHED_OTHER, &zero);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    execl(path, path, spins ? "spin" : (char *)NULL, (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  if (read(ends[0], &byte, 1) != 1) die(path);
  close(ends[0]);
  return pid;
}

static pid_t start(const char *path, int spins) {
  return path ? start_program(path, spins) : start_victim(spins);
}

int kill_one(int argc, char **argv) {
  if (argc != 2 && argc != 3) return 64;
  const char *program = argc == 3 ? argv[1] : NULL;
  int    busy = strcmp(argv[0], "idle") != 0, raised = strcmp(argv[0], "raised") == 0;
  size_t count = strtoul(argv[argc - 1], NULL, 10);
  int    timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  pid_t  spinners[spinners_max];
  int    n_spinners = busy ? spinners_start(spinners, spinners_max) : 0;
  uint64_t *samples = calloc(count + 1, sizeof *samples);
  if (timer < 0 || !samples) die("prepare");
  if (raised) become_realtime(0);
  for (size_t i = 0; i < count; i++) {
    pid_t    victim = start(program, busy);
    int      pidfd = open_pidfd(victim);
    uint64_t deadline = pass_deadline(timer);
    if (raised) raise_victim(victim);
    syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
    wait_readable(pidfd);
    reap(victim);
    samples[i] = now_ns() - deadline;
    close(pidfd);
  }
  spinners_end(spinners, n_spinners);
  report(samples, count);
  free(samples);
  return 0;
}

int kill_group(int argc, char **argv) {
  if (argc != 1 && argc != 2) return 64;
  const char *program = argc == 2 ? argv[0] : NULL;
  size_t      count = strtoul(argv[argc - 1], NULL, 10);
  int    timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  uint64_t *samples = calloc(count + 1, sizeof *samples);
  if (timer < 0 || !samples) die("prepare");
  for (size_t i = 0; i < count; i++) {
    pid_t group[group_size];
    int   pidfds[group_size];
    for (int n = 0; n < group_size; n++) {
      group[n] = start(n == 0 ? program : NULL, 0);
      /* A program has done so itself, before it could not be done any more. */
      if ((n > 0 || !program) && setpgid(group[n], group[0]) < 0) die("set the process group");
      pidfds[n] = open_pidfd(group[n]);
    }
    uint64_t deadline = pass_deadline(timer);
    if (kill(-group[0], SIGKILL) < 0) die("kill the group");
    for (int n = 0; n < group_size; n++) wait_readable(pidfds[n]);
    samples[i] = now_ns() - deadline;
    for (int n = 0; n < group_size; n++) {
      reap(group[n]);
      close(pidfds[n]);
    }
  }
  report(samples, count);
  free(samples);
  return 0;
}
