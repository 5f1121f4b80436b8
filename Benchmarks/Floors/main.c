/* SPDX-License-Identifier: Apache-2.0 */
#include "floors.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const uint64_t limit_ns = 10000000;

uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void die(const char *what) {
  fprintf(stderr, "floors: %s: %s\n", what, strerror(errno));
  exit(1);
}

void pin(int cpu) {
  cpu_set_t set;
  if (cpu < 0) return;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) < 0) die("pin to a processor");
}

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

void report(uint64_t *ns, size_t count) {
  if (count == 0) return;
  qsort(ns, count, sizeof *ns, ascending);
  printf("p50 %.3f\n", (double)ns[count / 2] / 1e3);
  printf("p99 %.3f\n", (double)ns[(count - 1) * 99 / 100] / 1e3);
  printf("low %.3f\n", (double)ns[0] / 1e3);
}

void reap(pid_t pid) {
  while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
}

uint64_t pass_deadline(int timer) {
  uint64_t          deadline = now_ns() + limit_ns, count;
  struct itimerspec when = {
      .it_value = {(time_t)(deadline / 1000000000u), (long)(deadline % 1000000000u)}};
  if (timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL) < 0) die("set the timer");
  if (read(timer, &count, sizeof count) < 0) die("read the timer");
  return deadline;
}

static void spin(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (volatile uint64_t n = 0;; n++) {}
}

int spinners_start(pid_t *pids, int max) {
  int count = (int)sysconf(_SC_NPROCESSORS_ONLN);
  if (count > max) count = max;
  for (int i = 0; i < count; i++) {
    pids[i] = fork();
    if (pids[i] < 0) die("fork");
    if (pids[i] == 0) {
      pin(i);
      spin();
    }
  }
  return count;
}

void spinners_end(const pid_t *pids, int count) {
  for (int i = 0; i < count; i++) {
    kill(pids[i], SIGKILL);
    reap(pids[i]);
  }
}

/* Keeps one processor busy until it is killed or its parent ends. */
int burn(int argc, char **argv) {
  if (argc > 0) pin(atoi(argv[0]));
  spin();
  return 0;
}

/* Runs a program, and all that it starts, on one processor. */
static int pinned(int argc, char **argv) {
  if (argc < 2) return 64;
  pin(atoi(argv[0]));
  execv(argv[1], argv + 1);
  die(argv[1]);
  return 1;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(int, char **);
  } floors[] = {
      {"roundtrip", roundtrip}, {"throughput", throughput}, {"kill", kill_one},
      {"kill-group", kill_group}, {"spawn", spawn_empty},   {"stamp", stamp},
      {"burn", burn},             {"pinned", pinned},       {"cancel", cancel},
      {"zygote-start", zygote_start}, {"zygote-memory", zygote_memory},
      {"serve", serve},
  };
  for (size_t i = 0; argc > 1 && i < sizeof floors / sizeof *floors; i++)
    if (strcmp(argv[1], floors[i].name) == 0) return floors[i].run(argc - 2, argv + 2);
  fputs("usage: floors roundtrip stream|seqpacket one|two|free N\n"
        "       floors throughput one|free N\n"
        "       floors kill idle|busy|raised [PROGRAM] N\n"
        "       floors kill-group [PROGRAM] N\n"
        "       floors spawn N\n"
        "       floors cancel N\n"
        "       floors zygote-start PLUGIN N\n"
        "       floors zygote-memory PLUGIN\n"
        "       floors serve\n"
        "       floors burn CPU\n"
        "       floors pinned CPU PROGRAM [ARGUMENT...]\n",
        stderr);
  return 64;
}
