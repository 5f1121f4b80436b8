/* SPDX-License-Identifier: Apache-2.0
 * The entry symbol is data. The host refuses to call it. */
#include <stdint.h>

/* Not bghost.h: it declares the symbol as the function that it ought to be. */
__attribute__((section(".note.bghost"), used, aligned(4))) static const struct {
  uint32_t namesz, descsz, type;
  char     name[8];
  char     desc[32];
} note = { 7, 32, 1, "bghost", "abi=1.0;id=test.entry-is-data" };

__attribute__((visibility("default"))) int bghost_plugin_v1 = 1;
