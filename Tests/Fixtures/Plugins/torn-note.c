/* SPDX-License-Identifier: Apache-2.0
 * The note announces more text than there is. The host refuses it before loading. */
#include "table.h"

__attribute__((section(".note.bghost"), used, aligned(4))) static const struct {
  uint32_t namesz, descsz, type;
  char     name[8];
  char     desc[28];
} note = { 7, 4000, 1, "bghost", "abi=1.0;id=test.torn-note" };

static const bg_plugin plugin = GOOD_PLUGIN("test.torn-note");
ENTRY(&plugin)
