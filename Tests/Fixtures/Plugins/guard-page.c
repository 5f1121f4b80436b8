/* SPDX-License-Identifier: Apache-2.0
 * Its table says it is longer than the memory behind it: the last BYTES bytes of a page, and then one
 * that cannot be read; in a hole, another thread could map its memory. The host reads no further than the
 * page and refuses it. */
#include <string.h>
#include <sys/mman.h>

#include "table.h"

BG_NOTE("abi=1.0;id=test.guard-page;runtime=c");

#ifndef BYTES
#define BYTES (sizeof(bg_plugin) / 2)
#endif

static const bg_plugin plugin = GOOD_PLUGIN("test.guard-page");

const bg_plugin *bghost_plugin_v1(const bg_host *host) {
  static char *place;
  (void)host;
  if (place == 0) {
    char *pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + 4096, 4096, PROT_NONE) != 0) return 0;
    place = pages + 4096 - BYTES;
    memcpy(place, &plugin, BYTES);
  }
  return (const bg_plugin *)(void *)place;
}
