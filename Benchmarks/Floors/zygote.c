/* SPDX-License-Identifier: Apache-2.0
 * Children of a process that has the plugin loaded already: the cheapest worker there could be. */
#include "floors.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { workers = 8 };

static void load(const char *plugin) {
  if (dlopen(plugin, RTLD_NOW | RTLD_LOCAL)) return;
  fprintf(stderr, "floors: %s\n", dlerror());
  exit(1);
}

/* From fork to the child's first instruction. */
int zygote_start(int argc, char **argv) {
  if (argc != 2) return 64;
  size_t count = strtoul(argv[1], NULL, 10);
  uint64_t *samples = calloc(count + 1, sizeof *samples);
  int ends[2];
  load(argv[0]);
  if (!samples || pipe(ends) < 0) die("prepare");
  for (size_t i = 0; i < count; i++) {
    uint64_t begun, before = now_ns();
    pid_t    pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) {
      begun = now_ns();
      _exit(write(ends[1], &begun, sizeof begun) == (ssize_t)sizeof begun ? 0 : 1);
    }
    if (read(ends[0], &begun, sizeof begun) != (ssize_t)sizeof begun) die("read the stamp");
    samples[i] = begun - before;
    reap(pid);
  }
  report(samples, count);
  free(samples);
  return 0;
}

/* Adds up the lines of /proc/PID/smaps_rollup that begin so. */
static long kib_of(pid_t pid, const char *format) {
  char path[64], line[256];
  long kib, sum = 0;
  snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
  FILE *file = fopen(path, "re");
  if (!file) die(path);
  while (fgets(line, sizeof line, file))
    if (sscanf(line, format, &kib) == 1) sum += kib;
  fclose(file);
  return sum;
}

/* What each of a few children that wait takes. */
int zygote_memory(int argc, char **argv) {
  if (argc != 1) return 64;
  pid_t pids[workers];
  int   ends[2];
  char  byte = 0;
  long  pss = 0, rss = 0, dirty = 0;
  load(argv[0]);
  if (pipe(ends) < 0) die("make a pipe");
  for (int i = 0; i < workers; i++) {
    pids[i] = fork();
    if (pids[i] < 0) die("fork");
    if (pids[i] > 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (write(ends[1], &byte, 1) != 1) _exit(1);
    for (;;) pause();
  }
  for (int i = 0; i < workers; i++)
    if (read(ends[0], &byte, 1) != 1) die("wait for the children");
  for (int i = 0; i < workers; i++) {
    pss += kib_of(pids[i], "Pss: %ld kB");
    rss += kib_of(pids[i], "Rss: %ld kB");
    dirty += kib_of(pids[i], "Private_Dirty: %ld kB");
  }
  for (int i = 0; i < workers; i++) {
    kill(pids[i], SIGKILL);
    reap(pids[i]);
  }
  printf("pss-kib %ld\nrss-kib %ld\ndirty-kib %ld\n", pss / workers, rss / workers,
         dirty / workers);
  return 0;
}
