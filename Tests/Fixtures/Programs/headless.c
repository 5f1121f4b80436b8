/* SPDX-License-Identifier: Apache-2.0
 * headless: ends its first thread, and goes on in another that has 64 MiB, until it is given a line. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *rest(void *first) {
  char  byte;
  char *memory = malloc(64 << 20);
  if (!memory) _exit(71);
  memset(memory, 1, 64 << 20);
  pthread_join(*(pthread_t *)first, NULL);
  if (write(1, "ready\n", 6) != 6) _exit(71);
  if (read(0, &byte, 1) != 1) _exit(71);
  _exit(memory[0] == 1 ? 4 : 5);
}

int main(void) {
  static pthread_t first;
  pthread_t        other;
  first = pthread_self();
  if (pthread_create(&other, NULL, rest, &first) != 0) return 71;
  pthread_exit(NULL);
}
