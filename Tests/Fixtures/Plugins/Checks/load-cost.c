/* SPDX-License-Identifier: Apache-2.0
 * A constructor computes for 150 ms. */
#include "author.h"

#include <time.h>
__attribute__((constructor)) static void begin(void) {
  clock_t start = clock();
  while (clock() - start < CLOCKS_PER_SEC * 15 / 100) {
  }
}
RUNS(BG_TASK_MAY_BLOCK, succeed)
