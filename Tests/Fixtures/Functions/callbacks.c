/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that know callbacks without a context pointer. They end their run from their own stack,
 * from a thread of their own, twice, and long after it is over. The host must count the first end
 * and answer every other harmlessly. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define EXPORT __attribute__((visibility("default")))

typedef int (*cancelled_fn)(void);
typedef void (*done_fn)(int);
typedef void (*done_text_fn)(int, const char *);

/* Polls until it is asked to stop; the answer is how often it asked. */
EXPORT int poll_cancelled(cancelled_fn cancelled) {
  int polls = 1;
  while (cancelled() == 0) polls++;
  return polls;
}

/* A callback must not be seen in errno. */
EXPORT int errno_across(cancelled_fn cancelled) {
  errno = 1234;
  cancelled();
  return errno;
}

EXPORT int done_at_once(int status, done_fn done) {
  done(status);
  return 42;
}

EXPORT void done_twice(done_fn done) {
  done(0);
  done(-1);
}

/* ---- on a thread, which goes on once gate_open() was called ---- */

struct job {
  const unsigned char *bytes;
  size_t count;
  unsigned long *sum;
  int status;
  done_text_fn done;
};
static sem_t gate;
__attribute__((constructor)) static void make_gate(void) { sem_init(&gate, 0, 0); }
EXPORT void gate_open(void) { sem_post(&gate); }

static void *work(void *context) {
  struct job *job = context;
  while (sem_wait(&gate) != 0) {
  }
  for (size_t i = 0; i < job->count; i++) *job->sum += job->bytes[i];
  char text[] = "summed";
  job->done(job->status, text);
  memset(text, '#', sizeof text - 1); /* the host must have copied it */
  free(job);
  return 0;
}

/* Returns at once; its arguments stay in use until the end. */
EXPORT int sum_later(const unsigned char *bytes, size_t count, unsigned long *sum, int status,
                     done_text_fn done) {
  pthread_t thread;
  struct job *job = malloc(sizeof *job);
  if (job == 0) return -1;
  *job = (struct job){bytes, count, sum, status, done};
  if (pthread_create(&thread, 0, work, job) != 0) {
    free(job);
    return -1;
  }
  pthread_detach(thread);
  return 0;
}

/* ---- callbacks that outlive their run ---- */

static done_fn kept_done;
static cancelled_fn kept_cancelled;

EXPORT int keep(int result, cancelled_fn cancelled, done_fn done) {
  kept_cancelled = cancelled;
  kept_done = done;
  if (result == 0) done(0);
  return result;
}
EXPORT int use_kept(void) {
  kept_done(-1);
  return kept_cancelled();
}

static void *use_on_thread(void *context) {
  *(int *)context = use_kept();
  return 0;
}
EXPORT int use_kept_on_thread(void) {
  pthread_t thread;
  int answer = -1;
  if (pthread_create(&thread, 0, use_on_thread, &answer) == 0) pthread_join(thread, 0);
  return answer;
}

/* From here on nothing can be mapped in this process; the heap keeps some room that it has. */
EXPORT int starve(void) {
  static void *room[128];
  struct rlimit none = {0, 0};
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  for (int i = 0; i < 128; i++) room[i] = malloc(1 << 16);
  for (int i = 0; i < 127; i++) free(room[i]);
  return setrlimit(RLIMIT_AS, &none);
}
