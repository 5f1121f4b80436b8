/* SPDX-License-Identifier: Apache-2.0
 * Handlers that end the process or the thread, or use resources of others. */
#ifndef MISBEHAVE_PROCESS_H
#define MISBEHAVE_PROCESS_H

#include "misbehave.h"

/* A real fault and not raise(): a handler for the signal may return from that. */
static void fault(void) {
  volatile int *volatile nowhere = (volatile int *)16;
  *nowhere = 1;
}

/* crashed(signalled SIGSEGV) */
HANDLER(crash_in_start) {
  UNUSED;
  fault();
  return BG_OK;
}

/* crashed(signalled SIGABRT) */
HANDLER(abort_in_start) {
  UNUSED;
  abort();
}

/* crashed(exited 0): no success */
HANDLER(exit_in_start) {
  UNUSED;
  exit(0);
}

/* the run itself succeeded; the worker is gone after it, and the next run gets another */
static void crash_in_release(void *plugin, bg_run run, void *state) {
  (void)plugin, (void)run, (void)state;
  fault();
}

/* killed(graceExceeded) or crashed: its thread is gone without an answer, which the host must not
 * wait for without end */
HANDLER(exit_thread) {
  UNUSED;
  pthread_exit(0);
}

/* ---- resources of others --------------------------------------------------------------------- */

/* killed(protocolFault): nothing of the daemon is disturbed */
HANDLER(write_rubbish) {
  UNUSED;
  unsigned char rubbish[512];
  for (size_t i = 0; i < sizeof rubbish; i++) rubbish[i] = (unsigned char)(i * 151 + 7);
  for (int fd = 3; fd < 64; fd++) {
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode))
      send(fd, rubbish, sizeof rubbish, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  return BG_PENDING;
}

/* killed(protocolFault(12)): a frame that is well formed in every byte, about a run that is another
 * worker's, or does not exist; the frame does not end that run */
HANDLER(forge_completion) {
  (void)plugin;
  unsigned char frame[32] = { sizeof frame, 0, 0, 0, 0x83, 1 };
  bg_run        other = info->run + (1u << 20);
  for (int i = 0; i < 8; i++) frame[8 + i] = (unsigned char)(other >> (8 * i));
  for (int fd = 3; fd < 64; fd++) {
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode))
      send(fd, frame, sizeof frame, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  return BG_PENDING;
}

/* The worker says nothing any more, and can still be told: the run ends soon, and no run after it goes
 * to this worker. */
HANDLER(fall_silent) {
  UNUSED;
  for (int fd = 3; fd < 64; fd++) shutdown(fd, SHUT_WR);
  return BG_PENDING;
}

/* The worker is cut off from its daemon: the run ends, as crashed or lost, and no other does. */
HANDLER(close_descriptors) {
  UNUSED;
  for (int fd = 3; fd < 64; fd++) close(fd);
  return BG_PENDING;
}

/* succeeded; the worker is short of descriptors from now on, so it must not be used for ever */
HANDLER(leak_descriptors) {
  (void)plugin;
  int count = 0;
  while (count < 4096 && open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) count++;
  char line[64];
  snprintf(line, sizeof line, "leaked %d", count);
  say(info->run, line);
  return BG_OK;
}

/* succeeded; most of the 100000 lines are dropped and counted, each answered BG_OK */
HANDLER(flood_log) {
  (void)plugin;
  char line[256];
  memset(line, 'x', sizeof line);
  for (int i = 0; i < 100000; i++)
    if (host->log(host, info->run, 2, (bg_str){ line, sizeof line }) != BG_OK) return BG_E_FAILED;
  return BG_OK;
}

/* succeeded; of a million last steps the host gets few */
HANDLER(flood_progress) {
  (void)plugin;
  for (uint64_t i = 1; i <= 1000000; i++)
    if (host->progress(host, info->run, i, i, TEXT("flood")) != BG_OK) return BG_E_FAILED;
  return BG_OK;
}

/* succeeded; the host refuses invalid texts, extensions and parameters: logs "refused 9" */
HANDLER(odd_calls) {
  (void)plugin;
  char   value[8];
  size_t need = 0;
  bg_str nowhere = { 0, 5 }, endless = { value, SIZE_MAX };
  int    refused = 0;
  refused += host->log(host, info->run, 2, nowhere) == BG_E_ARG;
  refused += host->log(host, info->run, 2, endless) == BG_E_ARG;
  refused += host->progress(host, info->run, 1, 2, nowhere) == BG_E_ARG;
  refused += host->param(host, info->run, nowhere, value, sizeof value, &need) == BG_E_ARG;
  refused += host->param(host, info->run, TEXT("text"), value, sizeof value, &need) == BG_E_ABSENT;
  refused += host->log(0, info->run, 2, TEXT("to no run")) == BG_E_ARG;
  refused += host->complete(0, info->run, 0) == BG_E_ARG;
  refused += host->extension(host, "org.example.unknown/1") == 0;
  refused += host->extension(host, 0) == 0;
  char line[32];
  snprintf(line, sizeof line, "refused %d", refused);
  say(info->run, line);
  return BG_OK;
}

/* succeeded or killed(output); the daemon keeps no more of the 64 MiB than it may */
HANDLER(flood_stdout) {
  UNUSED;
  char line[4096];
  memset(line, 'x', sizeof line);
  line[sizeof line - 1] = '\n';
  for (int i = 0; i < 16384; i++)
    if (write(1, line, sizeof line) < 0 && errno != EAGAIN && errno != EINTR) return BG_E_FAILED;
  return BG_OK;
}

/* killed(memory), or succeeded once it has 2 GiB; it touches every page and ignores cancellation */
HANDLER(allocate) {
  (void)plugin;
  /* How far it came is in the file "touched" of its data directory: it cannot say so once killed. */
  char path[4096];
  snprintf(path, sizeof path, "%.*s/touched", (int)info->data_dir.len, info->data_dir.ptr);
  int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  /* A handler before it in this process may have left it no descriptor. */
  size_t untold = 0, *touched = &untold;
  if (fd >= 0 && ftruncate(fd, sizeof(size_t)) == 0)
    touched = mmap(0, sizeof *touched, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (touched == MAP_FAILED) return BG_E_FAILED;
  const size_t step = 1 << 20;
  for (int i = 0; i < 2048; i++) {
    char *block = mmap(0, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return BG_E_FAILED;
    memset(block, 1, step);
    *touched += step;
  }
  return BG_OK;
}

#endif
