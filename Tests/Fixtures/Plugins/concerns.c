/* SPDX-License-Identifier: Apache-2.0
 * A good plugin with properties that are no matter in a worker, but speak against running it inside
 * the daemon. The host names each. */
#include "table.h"

BG_NOTE("abi=1.0;id=test.concerns;runtime=c");

#ifdef STATIC_TLS
__thread int counter __attribute__((tls_model("initial-exec")));
BG_EXPORT int count(void);
int count(void) { return ++counter; }
#endif

#ifdef TEXT_RELOCATION
/* An address in the code: the loader must write it there. Needs -Wl,-z,notext. */
__asm__(".text\n.p2align 3\n.8byte bghost_plugin_v1\n");
#endif

#ifdef ALLOCATOR
#include <stddef.h>
BG_EXPORT void *malloc(size_t size);
void *malloc(size_t size) {
  (void)size;
  return 0;
}
#endif

#ifdef GO
__attribute__((section(".go.buildinfo"), used)) static const char build_information[16] = "go";
#endif

static const bg_plugin plugin = GOOD_PLUGIN("test.concerns");
ENTRY(&plugin)
