/* SPDX-License-Identifier: Apache-2.0
 * The note is whatever TEXT says; without it, 5 KiB. The host refuses texts that break the
 * rules. */
#include "table.h"

#ifdef TEXT
BG_NOTE(TEXT);
#else
__attribute__((section(".note.bghost"), used, aligned(4))) static const struct {
  uint32_t namesz, descsz, type;
  char     name[8];
  char     desc[5120];
} note = { 7, 5120, 1, "bghost", "abi=1.0;id=test.note-text" };
#endif

static const bg_plugin plugin = GOOD_PLUGIN("test.note-text");
ENTRY(&plugin)
