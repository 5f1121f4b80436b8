/* SPDX-License-Identifier: Apache-2.0
 * Its handlers return at once and leave something behind that works on while there is no run. With
 * SPIN_AFTER_OPEN it works before there has been any, with OPEN_... while it is loaded, with CLOSE_... at
 * the end. Bounded: left alone, nothing lasts for longer than a minute. */
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "misbehave.h"

BG_NOTE("abi=1.0;id=test.idler;runtime=c");

static void spin_for(int seconds) {
  time_t end = time(0) + seconds;
  while (time(0) < end)
    for (volatile int n = 0; n < 1000000; n++) continue;
}

static void *spinner(void *nothing) {
  spin_for(60);
  return nothing;
}

static void in_thread(void *(*work)(void *)) {
  pthread_t thread;
  if (pthread_create(&thread, 0, work, 0) == 0) pthread_detach(thread);
}

HANDLER(succeed) {
  UNUSED;
  return BG_OK;
}

/* Ends its worker: more processor time than is needed to tidy up. */
HANDLER(spin) {
  UNUSED;
  in_thread(spinner);
  return BG_OK;
}

/* A little is everybody's. */
static void *tidier(void *nothing) {
  struct timespec used;
  do {
    for (volatile int n = 0; n < 10000; n++) continue;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  } while (used.tv_nsec < 20000000);
  puts("tidied");
  fflush(stdout);
  return nothing;
}

HANDLER(tidy) {
  UNUSED;
  in_thread(tidier);
  return BG_OK;
}

static void *forker(void *nothing) {
  /* The host measures at the end of the run. */
  poll(0, 0, 50);
  for (int count = 0; count < 400; count++) {
    if (fork() == 0) {
      alarm(60);
      for (;;) pause();
    }
  }
  return nothing;
}

/* 400 processes once its run is over */
HANDLER(fork_later) {
  UNUSED;
  in_thread(forker);
  return BG_OK;
}

static void *spinning_child(void *nothing) {
  poll(0, 0, 50);
  if (fork() == 0) {
    alarm(60);
    spin_for(60);
    _exit(0);
  }
  return nothing;
}

/* The worker itself does nothing. */
HANDLER(spin_in_child) {
  UNUSED;
  in_thread(spinning_child);
  return BG_OK;
}

static char data_file[4096];

static void *writer(void *nothing) {
  static char block[256 << 10];
  memset(block, 'x', sizeof block);
  /* No file of its may be as large as all together. */
  for (int file = 0; file < 128; file++) {
    char name[sizeof data_file + 16];
    snprintf(name, sizeof name, "%s-%d", data_file, file);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (int i = 0; i < 16; i++)
      if (write(fd, block, sizeof block) < 0) return nothing;
    close(fd);
  }
  return nothing;
}

/* 512 MiB once its run is over */
HANDLER(write_later) {
  (void)plugin;
  snprintf(data_file, sizeof data_file, "%.*s/later", (int)info->data_dir.len, info->data_dir.ptr);
  in_thread(writer);
  return BG_OK;
}

static void *printer(void *nothing) {
  static char block[4096];
  memset(block, 'x', sizeof block);
  block[sizeof block - 1] = '\n';
  /* No more than the daemon reads, so that it costs this process little of its processor time. */
  for (int i = 0; i < 16 << 10; i++)
    if (write(1, block, sizeof block) < 0) break;
  return nothing;
}

/* 64 MiB of lines once its run is over */
HANDLER(print_later) {
  UNUSED;
  in_thread(printer);
  return BG_OK;
}

static void *taker(void *nothing) {
  poll(0, 0, 20);
  /* Little processor time, all in one call. */
  const size_t size = (size_t)96 << 20;
  mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  for (int i = 0; i < 600; i++) {
    poll(0, 0, 100);
    for (volatile int n = 0; n < 100000; n++) continue;
  }
  return nothing;
}

/* 96 MiB once its run is over, and then nearly nothing for a minute */
HANDLER(take_later) {
  UNUSED;
  in_thread(taker);
  return BG_OK;
}

static void fork_with_memory(void) {
  for (int count = 0; count < 3; count++) {
    if (fork() == 0) {
      const size_t size = (size_t)48 << 20;
      char        *block = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (block != MAP_FAILED) memset(block, 1, size);
      alarm(60);
      for (;;) pause();
    }
  }
}

/* Its children take the memory that it may not have itself. */
HANDLER(children_with_memory) {
  UNUSED;
  fork_with_memory();
  return BG_PENDING;
}

/* A child burns the processor time, and the worker none. */
HANDLER(child_with_processor) {
  UNUSED;
  if (fork() == 0) {
    alarm(60);
    spin_for(60);
    _exit(0);
  }
  return BG_PENDING;
}

/* One system call takes it all: it returns to the plugin only when it is done. */
HANDLER(one_long_call) {
  UNUSED;
  const size_t size = (size_t)1 << 30;
  for (;;) {
    void *block = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1,
                       0);
    if (block == MAP_FAILED) return BG_E_FAILED;
    munmap(block, size);
  }
}

/* One system call burns seconds of processor time. Succeeds unless the host sees that meanwhile. */
HANDLER(one_busy_call) {
  UNUSED;
  const size_t size = 64 << 20;
  int          fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
  void        *block = malloc(size);
  struct iovec parts[32];
  for (int i = 0; i < 32; i++) parts[i] = (struct iovec){ block, size };
  return fd < 0 || !block || readv(fd, parts, 32) < (ssize_t)size ? BG_E_FAILED : BG_OK;
}

/* killed(data), if the host may read its open descriptors: the files have no names any more */
HANDLER(unlinked_files) {
  (void)plugin;
  static char block[256 << 10];
  memset(block, 'x', sizeof block);
  for (int i = 0; i < 32; i++) {
    snprintf(data_file, sizeof data_file, "%.*s/gone", (int)info->data_dir.len, info->data_dir.ptr);
    int fd = open(data_file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || unlink(data_file) < 0) return BG_E_FAILED;
    if (write(fd, block, sizeof block) != sizeof block) return BG_E_FAILED;
  }
  return BG_PENDING;
}

static void *sleeper(void *nothing) {
  for (;;) pause();
  return nothing;
}

/* Many threads which do nothing; logs "threads N". */
HANDLER(crowd) {
  (void)plugin;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  int count = 0;
  for (; count < 4095; count++) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, sleeper, 0) != 0) break;
  }
  char line[32];
  snprintf(line, sizeof line, "threads %d", count);
  say(info->run, line);
  return BG_PENDING;
}

/* Logs "descriptor N" for its cancel_fd. */
HANDLER(show_descriptor) {
  (void)plugin;
  char   line[32];
  size_t need = 0;
  if (host->param(host, info->run, TEXT("/leak"), line, sizeof line, &need) == BG_OK)
    while (open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) continue;
  snprintf(line, sizeof line, "descriptor %d", info->cancel_fd);
  say(info->run, line);
  return BG_PENDING;
}

/* Makes timers until it gets no more; logs "timers N, errno N". */
HANDLER(take_timers) {
  (void)plugin;
  struct sigevent event = { 0 };
  event.sigev_notify = SIGEV_NONE;
  timer_t timer;
  int     count = 0;
  while (count < 1 << 20 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) count++;
  char line[64];
  snprintf(line, sizeof line, "timers %d, errno %d", count, errno);
  say(info->run, line);
  return BG_OK;
}

/* Withdraws absent requests as fast as it can; logs "taken N, refused N". */
HANDLER(ask_much) {
  (void)plugin;
  const bg_schedule *schedule = host->extension(host, BG_EXT_SCHEDULE);
  int                taken = 0, refused = 0;
  for (int i = 0; i < 12000; i++) {
    bg_status status = schedule->cancel(host, TEXT("succeed"));
    if (status == BG_E_LIMIT) refused++;
    else taken++;
  }
  char line[64];
  snprintf(line, sizeof line, "taken %d, refused %d", taken, refused);
  say(info->run, line);
  return BG_OK;
}

/* What a completed run does before it lets go of its slot. */
static void release_spinning(void *plugin, bg_run run, void *state) {
  (void)plugin, (void)run, (void)state;
  in_thread(spinner);
  spin_for(60);
}

static void release_forking(void *plugin, bg_run run, void *state) {
  (void)plugin, (void)run, (void)state;
  forker(0);
  poll(0, 0, 60000);
}

static void release_taking(void *plugin, bg_run run, void *state) {
  (void)plugin, (void)run, (void)state;
  taker(0);
}

static void release_printing(void *plugin, bg_run run, void *state) {
  (void)plugin, (void)run, (void)state;
  printer(0);
  poll(0, 0, 60000);
}

static void release_staying(void *plugin, bg_run run, void *state) {
  (void)plugin, (void)run, (void)state;
  poll(0, 0, 60000);
}

static void release_late(void *plugin, bg_run run, void *state) {
  (void)plugin, (void)run, (void)state;
  poll(0, 0, 20);
}

/* Completes its run, and computes on in start(). */
HANDLER(spin_in_start) {
  (void)plugin;
  finish(info->run, BG_OK, NOTHING, NOTHING);
  spin_for(60);
  return BG_PENDING;
}

static void cancelled(void *plugin, bg_run run, void *state, uint32_t why) {
  (void)plugin, (void)state, (void)why;
  finish(run, BG_E_CANCELLED, NOTHING, NOTHING);
}

#define TASK(name, flags, start)                                                                   \
  &(const bg_task) { sizeof(bg_task), flags, BG_LIT(name), { 0, 0 }, start, cancelled, 0 }

#define RELEASE_TASK(name, release)                                                                \
  &(const bg_task) { sizeof(bg_task), 0, BG_LIT(name), { 0, 0 }, succeed, cancelled, release }

static const bg_task *const tasks[] = {
  TASK("succeed", 0, succeed),
  TASK("spin", 0, spin),
  TASK("tidy", 0, tidy),
  TASK("fork-later", 0, fork_later),
  TASK("spin-in-child", 0, spin_in_child),
  TASK("write-later", 0, write_later),
  TASK("print-later", 0, print_later),
  TASK("take-later", 0, take_later),
  TASK("children-with-memory", 0, children_with_memory),
  TASK("child-with-processor", 0, child_with_processor),
  TASK("one-long-call", BG_TASK_MAY_BLOCK, one_long_call),
  TASK("one-busy-call", BG_TASK_MAY_BLOCK, one_busy_call),
  TASK("unlinked-files", 0, unlinked_files),
  TASK("crowd", BG_TASK_MAY_BLOCK, crowd),
  TASK("show-descriptor", 0, show_descriptor),
  TASK("take-timers", BG_TASK_MAY_BLOCK, take_timers),
  TASK("ask-much", BG_TASK_MAY_BLOCK, ask_much),
  TASK("spin-in-start", BG_TASK_MAY_BLOCK, spin_in_start),
  RELEASE_TASK("release-spinning", release_spinning),
  RELEASE_TASK("release-forking", release_forking),
  RELEASE_TASK("release-taking", release_taking),
  RELEASE_TASK("release-printing", release_printing),
  RELEASE_TASK("release-staying", release_staying),
  RELEASE_TASK("release-late", release_late),
};

static bg_status open_(const bg_host *given, bg_str config, void **plugin) {
  (void)given, (void)config, (void)plugin;
#ifdef SPIN_AFTER_OPEN
  in_thread(spinner);
#elif defined OPEN_FORKING
  forker(0);
  poll(0, 0, 60000);
#elif defined OPEN_TAKING
  fork_with_memory();
  poll(0, 0, 60000);
#elif defined OPEN_WRITING
  /* The configuration is {"file":"PATH"}. */
  sscanf(config.ptr, "{\"file\":\"%4000[^\"]", data_file);
  writer(0);
  poll(0, 0, 60000);
#endif
  return BG_OK;
}

static void close_(void *plugin) {
  (void)plugin;
#ifdef CLOSE_TAKING
  taker(0);
#elif defined CLOSE_SPINNING
  spin_for(60);
#elif defined CLOSE_FORKING
  forker(0);
  poll(0, 0, 60000);
#endif
}

static const bg_plugin plugin_table = {
  sizeof plugin_table, BG_ABI_MAJOR, 0, BG_LIT("test.idler"), BG_LIT("1.0.0"), BG_LIT("Fixtures"), 0,
  sizeof tasks / sizeof *tasks, tasks, open_, 0, close_,
};

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &plugin_table;
}
