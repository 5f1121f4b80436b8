/* SPDX-License-Identifier: Apache-2.0
 * The smallest daemon there is: says that it is ready and waits. */
#include <unistd.h>

int main(void) {
  if (write(1, "ready\n", 6) != 6) return 1;
  for (;;) pause();
}
