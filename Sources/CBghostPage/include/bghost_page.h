/* SPDX-License-Identifier: Apache-2.0
 * The files of the dashboard, as parts of the program: it needs none beside it. */
#ifndef BGHOST_PAGE_H
#define BGHOST_PAGE_H

#include <stddef.h>

typedef struct {
  const char          *name; /* as in the folder page */
  const char          *type; /* its media type */
  const unsigned char *bytes;
  size_t               size;
} bghost_page_file;

/* The files, which are never freed, and how many there are. */
const bghost_page_file *bghost_pages(void);
size_t                  bghost_page_count(void);

#endif
