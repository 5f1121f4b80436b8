/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of Templates/, as they are, inside the program. */
#ifndef CBGHOST_TEMPLATES_H
#define CBGHOST_TEMPLATES_H

#include <stddef.h>

typedef struct bg_template_file {
  const char          *path;  /* below Templates/ */
  const unsigned char *bytes;
  size_t               count;
} bg_template_file;

/* The file of an index from 0; NULL behind the last one. */
const bg_template_file *bg_template_file_at(size_t index);

#endif
