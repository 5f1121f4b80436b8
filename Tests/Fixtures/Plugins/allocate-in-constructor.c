/* SPDX-License-Identifier: Apache-2.0
 * It takes a GiB while it is loaded, which its worker is killed for before it has it. */
#include <string.h>
#include <sys/mman.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.allocate-in-constructor;runtime=c");

__attribute__((constructor)) static void begin(void) {
  const size_t step = 1 << 20;
  for (int i = 0; i < 1024; i++) {
    char *block = mmap(0, step, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block != MAP_FAILED) memset(block, 1, step);
  }
}

static const bg_plugin plugin = GOOD_PLUGIN("test.allocate-in-constructor");
ENTRY(&plugin)
