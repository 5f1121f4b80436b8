/* SPDX-License-Identifier: Apache-2.0
 * No plugin: a library with 300,000 symbols, more than any plugin needs. */
__asm__(".data\n"
        ".altmacro\n"
        ".macro one number\n"
        ".globl symbol_of_a_library_that_has_very_many_\\number\n"
        "symbol_of_a_library_that_has_very_many_\\number: .byte 0\n"
        ".endm\n"
        ".set count, 0\n"
        ".rept 300000\n"
        "one %count\n"
        ".set count, count + 1\n"
        ".endr\n"
        ".text\n");
