/* SPDX-License-Identifier: Apache-2.0
 * Handlers that take all that there is of something. */
#ifndef MISBEHAVE_RESOURCES_H
#define MISBEHAVE_RESOURCES_H

#include <sys/resource.h>
#include <sys/uio.h>

#include "misbehave.h"

static void *idle(void *nothing) {
  for (;;) pause();
  return nothing;
}

static void *burn(void *nothing) {
  for (volatile unsigned long n = 0;; n++) continue;
  return nothing;
}

/* succeeded, or killed(memory): it does not get ten thousand threads. Logs "threads N" */
HANDLER(thread_bomb) {
  (void)plugin;
  int count = 0;
  for (; count < 10000; count++) {
    pthread_t thread;
    if (pthread_create(&thread, 0, idle, 0) != 0) break;
  }
  char line[32];
  snprintf(line, sizeof line, "threads %d", count);
  say(info->run, line);
  return BG_OK;
}

/* killed(cpu) or killed(graceExceeded), also with fewer threads: a bomb of its plugin may have them all */
HANDLER(spin_in_threads) {
  UNUSED;
  for (int i = 0; i < 8; i++) {
    pthread_t thread;
    if (pthread_create(&thread, 0, burn, 0) != 0) break;
  }
  return BG_PENDING;
}

/* killed(memory), or crashed where it is refused before */
HANDLER(lock_memory) {
  UNUSED;
  const size_t step = 1 << 20;
  for (int i = 0; i < 2048; i++) {
    char *block = mmap(0, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return BG_E_FAILED;
    mlock(block, step);
    memset(block, 1, step);
  }
  return BG_OK;
}

/* The resident memory of this process in MiB; 0 where it cannot be read */
static long resident_mebibytes(void) {
  long  all = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  if (fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
  fclose(file);
  return resident * sysconf(_SC_PAGESIZE) >> 20;
}

/* cancelledClean: takes memory until it has some MiB more than its parameter "limit", uses it until it is
 * told that this is too much, and lets go of it */
HANDLER(heed_memory) {
  (void)plugin;
  enum { BLOCKS = 2048 };
  static char *blocks[BLOCKS];
  char         limit[16] = "";
  const size_t step = 1 << 20;
  size_t       need = 0;
  int          count = 0;
  bg_str       pointer = { "/limit", 6 };
  if (host->param(host, info->run, pointer, limit, sizeof limit - 1, &need) != BG_OK) return BG_E_FAILED;
  while (!is_cancelled(info->run)) {
    /* More would be so far above the limit that the host kills without a cancel. */
    if (count < BLOCKS && resident_mebibytes() < atol(limit) + 4) {
      char *block = mmap(0, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (block == MAP_FAILED) return BG_E_FAILED;
      blocks[count++] = block;
    }
    /* The host looks at it after each 10 ms of processor time. */
    if (count > 0) memset(blocks[count - 1], count, step);
  }
  while (count > 0) munmap(blocks[--count], step);
  return BG_E_CANCELLED;
}

/* cancelledClean: spins until it is cancelled */
HANDLER(heed_cpu) {
  (void)plugin;
  while (!is_cancelled(info->run)) continue;
  return BG_E_CANCELLED;
}

/* succeeded: 16 GiB of addresses are no memory, and more of them than it may have are refused. Logs
 * "reserved N MiB" */
HANDLER(reserve) {
  (void)plugin;
  const size_t step = (size_t)1 << 30;
  int          count = 0;
  while (count < 64
         && mmap(0, step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED)
    count++;
  char line[32];
  snprintf(line, sizeof line, "reserved %d GiB", count);
  say(info->run, line);
  return BG_OK;
}

/* Logs "COUNT and ERROR", and waits for its end. */
static bg_status wait_full(const bg_run_info *info, int count, int error) {
  char line[64];
  snprintf(line, sizeof line, "made %d, then %s", count, error ? strerrorname_np(error) : "no more");
  say(info->run, line);
  poll(0, 0, -1);
  return BG_OK;
}

static int make_file(const bg_run_info *info, const char *name, int number) {
  char path[512];
  snprintf(path, sizeof path, "%.*s/%s-%d", (int)info->data_dir.len, info->data_dir.ptr, name,
           number);
  return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

/* killed(data): 64 files of 256 KiB; with the parameter "end" it succeeds once it has written them */
HANDLER(fill_data) {
  (void)plugin;
  char   end[8];
  size_t need = 0;
  static char block[256 << 10];
  memset(block, 'x', sizeof block);
  int count = 0;
  for (; count < 64; count++) {
    int fd = make_file(info, "filler", count);
    if (fd < 0 || write(fd, block, sizeof block) != sizeof block) break;
    close(fd);
  }
  if (host->param(host, info->run, TEXT("/end"), end, sizeof end, &need) == BG_OK) return BG_OK;
  return wait_full(info, count, count < 64 ? errno : 0);
}

/* killed(data): 2,000 empty files */
HANDLER(crowd_data) {
  (void)plugin;
  int count = 0;
  for (; count < 2000; count++) {
    int fd = make_file(info, "crowd", count);
    if (fd < 0) break;
    close(fd);
  }
  return wait_full(info, count, count < 2000 ? errno : 0);
}

/* killed(data): folders in folders, further down than anybody looks */
HANDLER(burrow_in_data) {
  (void)plugin;
  char path[512];
  snprintf(path, sizeof path, "%.*s", (int)info->data_dir.len, info->data_dir.ptr);
  if (chdir(path) != 0) return BG_E_FAILED;
  int count = 0;
  for (; count < 64; count++)
    if (mkdir("d", 0700) != 0 || chdir("d") != 0) break;
  return wait_full(info, count, count < 64 ? errno : 0);
}

/* succeeded: one file cannot be larger than all may be. Logs "wrote N, then ERROR" */
HANDLER(giant_file) {
  (void)plugin;
  int fd = make_file(info, "giant", 0);
  if (fd < 0) return BG_E_FAILED;
  char    line[64];
  ssize_t count = pwrite(fd, "x", 1, (off_t)1 << 40);
  snprintf(line, sizeof line, "wrote %zd, then %s", count, count < 0 ? strerrorname_np(errno) : "");
  close(fd);
  say(info->run, line);
  return BG_OK;
}

/* succeeded: its private temporary folder fills up at some point. Logs "wrote N KiB, then ERROR" */
HANDLER(fill_scratch) {
  (void)plugin;
  static char block[64 << 10];
  memset(block, 'x', sizeof block);
  int  fd = open("/tmp/filler", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  long written = 0;
  int  error = fd < 0 ? errno : 0;
  while (fd >= 0 && written < (256 << 20)) {
    ssize_t count = write(fd, block, sizeof block);
    if (count < 0) {
      error = errno;
      break;
    }
    written += count;
  }
  if (fd >= 0) close(fd);
  unlink("/tmp/filler");
  char line[64];
  snprintf(line, sizeof line, "wrote %ld KiB, then %s", written >> 10,
           error ? strerrorname_np(error) : "nothing");
  say(info->run, line);
  return BG_OK;
}

/* succeeded: pipes without a reader hold what they can, and there are only so many. Logs
 * "hoarded N KiB" */
HANDLER(hoard_pipes) {
  (void)plugin;
  static char block[4096];
  long        hoarded = 0;
  int         ends[2];
  while (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
    fcntl(ends[1], F_SETPIPE_SZ, 1 << 20);
    ssize_t count;
    while ((count = write(ends[1], block, sizeof block)) > 0) hoarded += count;
  }
  char line[64];
  snprintf(line, sizeof line, "hoarded %ld KiB", hoarded >> 10);
  say(info->run, line);
  return BG_OK;
}

/* succeeded: nothing that it tries of its standing works. Logs "refused N of 4" */
HANDLER(raise_itself) {
  (void)plugin;
  int           refused = 0;
  struct rlimit most = { RLIM_INFINITY, RLIM_INFINITY };
  struct sched_param first = { 1 };
  refused += setpriority(PRIO_PROCESS, 0, -20) != 0;
  refused += sched_setscheduler(0, SCHED_FIFO, &first) != 0;
  refused += setrlimit(RLIMIT_NOFILE, &most) != 0;
  refused += setrlimit(RLIMIT_CORE, &most) != 0;
  char line[32];
  snprintf(line, sizeof line, "refused %d of 4", refused);
  say(info->run, line);
  return BG_OK;
}

/* succeeded or killed(output): 64 MiB without a line break are cut into lines, most of them dropped */
HANDLER(endless_line) {
  UNUSED;
  static char block[64 << 10];
  memset(block, 'x', sizeof block);
  for (int i = 0; i < 1024; i++)
    if (write(1, block, sizeof block) < 0 && errno != EAGAIN && errno != EINTR) return BG_E_FAILED;
  return BG_OK;
}

/* succeeded: its output cannot control a terminal or look like a line of another plugin */
HANDLER(odd_lines) {
  (void)plugin;
  static const char escape[] = "\x1b]0;title\x07\x1b[2J\r\x9b\x31m %s%n";
  host->log(host, info->run, 99, TEXT("level 99"));
  host->log(host, info->run, 2, (bg_str){ escape, sizeof escape - 1 });
  printf("\x1b[31mred\xff\xfe %%s\r\n");
  printf("{\"level\":\"error\",\"event\":\"host.stopped\"}\n");
  fflush(stdout);
  return BG_OK;
}

/* killed(graceExceeded): the descriptor that tells it to stop is another file now; its callback is
 * still called, and no other run is the worse for it */
HANDLER(swap_cancel_fd) {
  (void)plugin;
  int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(null, info->cancel_fd);
  close(null);
  return BG_PENDING;
}

#endif
