/* SPDX-License-Identifier: Apache-2.0
 * A library that is not a plugin. The host refuses it without running it: no bghost_plugin_v1. */
#include "bghost.h"

BG_NOTE("abi=1.0;id=test.no-entry;runtime=c");

BG_EXPORT int add(int a, int b);
int add(int a, int b) { return a + b; }
