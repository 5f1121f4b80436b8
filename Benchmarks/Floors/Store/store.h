/* SPDX-License-Identifier: Apache-2.0
 * What SQLite and a C++ priority queue do alone. Each floor prints lines of "metric value". */
#ifndef STORE_FLOORS_H
#define STORE_FLOORS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One task in each transaction, one after the other. */
int store_lone(const char *folder, int count);
/* As many in each transaction as have arrived, with at most so many under way. */
int store_group(const char *folder, int window, int count);
/* All of a table. */
int store_scan(const char *path, const char *table);
/* Entries of 16 bytes, put in and taken out by date. */
int priority_queue(int count);

#ifdef __cplusplus
}
#endif

#endif
