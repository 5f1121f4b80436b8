/* SPDX-License-Identifier: Apache-2.0
 * Its note lies in a section of the usual name, but in none of the segments for notes, as some
 * linker scripts leave it. The host finds it. */
#include "table.h"

__asm__(".pushsection .note.bghost,\"a\",@progbits\n"
        ".p2align 2\n"
        ".4byte 7, 40, 1\n"
        ".asciz \"bghost\"\n"
        ".byte 0\n"
        ".ascii \"abi=1.0;id=test.note-in-section;runtime=\"\n"
        ".popsection\n");

static const bg_plugin plugin = GOOD_PLUGIN("test.note-in-section");
ENTRY(&plugin)
