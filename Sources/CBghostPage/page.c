/* SPDX-License-Identifier: Apache-2.0 */
#include "bghost_page.h"

/* #embed is of C23; clang has it in each language. */
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char index_html[] = {
#embed "page/index.html"
};

#define HTML   "text/html; charset=utf-8"
#define CSS    "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define IMAGE  "image/svg+xml"

#define PAGE(name, type, bytes) { name, type, bytes, sizeof bytes }

/* A test compares it with the folder. */
static const bghost_page_file files[] = {
  PAGE("index.html", HTML, index_html),
};

const bghost_page_file *bghost_pages(void) { return files; }

size_t bghost_page_count(void) { return sizeof files / sizeof *files; }
