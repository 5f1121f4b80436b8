/* SPDX-License-Identifier: Apache-2.0
 *
 * A library has no `main`: the compiler gives the entry point of an app another name, and the host calls
 * the entry of a plugin, which is here. Swift has no weak definitions. */
#include "bghost_app.h"

/* What the compiler makes of `@main`; absent in a plugin with an entry of its own. */
extern int bghost_app_main(int argc, char **argv) __attribute__((weak));

/* In the module UIKit. */
extern const void *bghost_app_table(const void *host);

int bghost_app_run(void) {
  if (bghost_app_main == 0) return 0;
  bghost_app_main(0, 0);
  return 1;
}

/* Weak: an author's own entry goes first. */
__attribute__((visibility("default"), weak)) const void *bghost_plugin_v1(const void *host);

const void *bghost_plugin_v1(const void *host) { return bghost_app_table(host); }
