/* SPDX-License-Identifier: Apache-2.0
 * An empty program, from posix_spawn to its first instruction. */
#include "floors.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

/* Says when main() began, and ends. */
int stamp(int argc, char **argv) {
  (void)argc;
  (void)argv;
  uint64_t now = now_ns();
  return write(1, &now, sizeof now) == (ssize_t)sizeof now ? 0 : 1;
}

int spawn_empty(int argc, char **argv) {
  if (argc != 1) return 64;
  size_t count = strtoul(argv[0], NULL, 10);
  uint64_t *samples = calloc(count + 1, sizeof *samples);
  if (!samples) die("allocate");
  for (size_t i = 0; i < count; i++) {
    char *arguments[] = {"floors", "stamp", NULL};
    posix_spawn_file_actions_t actions;
    int      ends[2];
    pid_t    pid;
    uint64_t begun, before = now_ns();
    if (pipe(ends) < 0) die("make a pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    if (posix_spawn(&pid, "/proc/self/exe", &actions, NULL, arguments, environ) != 0)
      die("spawn");
    close(ends[1]);
    if (read(ends[0], &begun, sizeof begun) != (ssize_t)sizeof begun) die("read the stamp");
    samples[i] = begun - before;
    reap(pid);
    close(ends[0]);
    posix_spawn_file_actions_destroy(&actions);
  }
  report(samples, count);
  free(samples);
  return 0;
}
