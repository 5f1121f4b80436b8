/* SPDX-License-Identifier: Apache-2.0
 *
 * What the dynamic linker knows about loaded libraries. Its structures are macros to Swift. */
#ifndef BGHOST_SYMBOLS_H
#define BGHOST_SYMBOLS_H

#include <stddef.h>

/* Whether an address that dlsym answered may be called: 1 if it lies in executable memory of a
 * loaded library and is not the address of a data symbol, else 0. */
int bgs_is_code(const void *address);

/* The file of the loaded library that an address lies in; 0 if it is in none. It lives as long as that
 * library is mapped. */
const char *bgs_library_of(const void *address);

/* The names of the functions that the library of a dlopen handle exports: writes the first
 * `capacity` of them and returns how many there are. They live as long as the library is mapped. */
size_t bgs_exported_functions(void *handle, const char **names, size_t capacity);

#endif
