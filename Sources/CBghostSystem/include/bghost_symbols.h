/* SPDX-License-Identifier: Apache-2.0
 *
 * The dynamic linker's data about loaded libraries; Swift cannot use its macros. */
#ifndef BGHOST_SYMBOLS_H
#define BGHOST_SYMBOLS_H

#include <stddef.h>

/* Whether an address from dlsym may be called: 1 if it lies in executable memory of a loaded
 * library and is not the address of a data symbol, else 0. */
int bgs_is_code(const void *address);

/* The file of the loaded library that contains an address; 0 if there is none. The string is valid
 * as long as that library is mapped. */
const char *bgs_library_of(const void *address);

/* Lists the functions that the library of a dlopen handle exports: writes the first `capacity`
 * names and returns the total number. The names are valid as long as the library is mapped. */
size_t bgs_exported_functions(void *handle, const char **names, size_t capacity);

#endif
