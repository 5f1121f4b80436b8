/* SPDX-License-Identifier: Apache-2.0
 * headless [THREADS]: ends its first thread, and goes on in another that has 64 MiB, until it is given a line. It
 * starts so many threads more, which sleep. If it has a descriptor 3, it maps that file and closes the descriptor. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int threads;

static void *sleeper(void *nothing) {
  for (;;) pause();
  return nothing;
}

static void *rest(void *first) {
  char  byte;
  char *memory = malloc(64 << 20);
  if (!memory) _exit(71);
  memset(memory, 1, 64 << 20);
  if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 3, 0) != MAP_FAILED) close(3);
  pthread_join(*(pthread_t *)first, NULL);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 64 << 10);
  for (int count = 0; count < threads; count++) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, sleeper, NULL) != 0) _exit(71);
  }
  if (write(1, "ready\n", 6) != 6) _exit(71);
  if (read(0, &byte, 1) != 1) _exit(71);
  _exit(memory[0] == 1 ? 4 : 5);
}

int main(int count, char **arguments) {
  static pthread_t first;
  pthread_t        other;
  first = pthread_self();
  if (count > 1) threads = atoi(arguments[1]);
  if (pthread_create(&other, NULL, rest, &first) != 0) return 71;
  pthread_exit(NULL);
}
