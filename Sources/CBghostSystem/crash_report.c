/* SPDX-License-Identifier: Apache-2.0 */
#include "crash_report.h"

#include "bghost_crash.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { libraries_max = 96, name_max = 64, symbol_max = 256, step_bytes = 16 << 10 };
/* The header of a frame, and the length field of its text. */
enum { header_bytes = 16 + 4, report_max = 24 << 10, frames_max = 32 };

/* ---- the loaded libraries ---- */

static struct library {
  uintptr_t start, end, base;
  char name[name_max];
} libraries[libraries_max];
static int n_libraries;

/* The symbol table of one library, by its place in the file. */
static struct {
  int fd, library;
  off_t symbols, names;
  uint64_t count, name_bytes;
} table = {.fd = -1, .library = -1};

static void copy_name(char *to, const char *path) {
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  size_t i = 0;
  for (; name[i] && i < name_max - 1; i++) to[i] = name[i] > ' ' && name[i] < 127 ? name[i] : '?';
  to[i] = 0;
}

static int add_library(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size;
  (void)unused;
  if (n_libraries == libraries_max) return 1;
  struct library *it = &libraries[n_libraries];
  it->base = info->dlpi_addr;
  it->start = UINTPTR_MAX;
  it->end = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
    uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    uintptr_t end = start + info->dlpi_phdr[i].p_memsz;
    if (start < it->start) it->start = start;
    if (end > it->end) it->end = end;
  }
  copy_name(it->name, info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "bghost-worker");
  n_libraries++;
  return 0;
}

static int library_at(uintptr_t at) {
  for (int i = 0; i < n_libraries; i++)
    if (at >= libraries[i].start && at < libraries[i].end) return i;
  return -1;
}

/* Finds the full symbol table, or without one the table of exported symbols. */
static int find_symbols(int fd) {
  Elf64_Ehdr header;
  Elf64_Shdr best, names, sections[64];
  int found = 0, full = 0;
  if (pread(fd, &header, sizeof header, 0) != sizeof header || header.e_shnum > 1024 ||
      header.e_shentsize != sizeof names)
    return 0;
  for (int i = 0; i < header.e_shnum && !full; i += 64) {
    int    count = header.e_shnum - i < 64 ? header.e_shnum - i : 64;
    size_t bytes = (size_t)count * sizeof names;
    off_t  at = (off_t)(header.e_shoff + (uint64_t)i * sizeof names);
    if (pread(fd, sections, bytes, at) != (ssize_t)bytes) return 0;
    for (int k = 0; k < count && !full; k++) {
      full = sections[k].sh_type == SHT_SYMTAB;
      if (!full && (sections[k].sh_type != SHT_DYNSYM || found)) continue;
      best = sections[k];
      found = 1;
    }
  }
  if (!found || best.sh_link >= header.e_shnum) return 0;
  off_t at = (off_t)(header.e_shoff + (uint64_t)best.sh_link * sizeof names);
  if (pread(fd, &names, sizeof names, at) != sizeof names) return 0;
  table.symbols = (off_t)best.sh_offset;
  table.count = best.sh_size / sizeof(Elf64_Sym);
  table.names = (off_t)names.sh_offset;
  table.name_bytes = names.sh_size;
  return 1;
}

void bgs_note_libraries(int fd, const void *inside, const char *name) {
  n_libraries = 0;
  dl_iterate_phdr(add_library, 0);
  int library = library_at((uintptr_t)inside);
  if (library < 0) return;
  copy_name(libraries[library].name, name);
  /* Use a number from 32 up: plugins may expect the low numbers to be free. */
  int kept = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 32);
  if (kept < 0) return;
  if (!find_symbols(kept)) {
    close(kept);
    return;
  }
  table.fd = kept;
  table.library = library;
}

/* ---- text ---- */

static int socket_fd = -1;
static unsigned char frame_kind, frame_version;
/* Slightly larger than used, in case two threads write at once. */
static unsigned char report[header_bytes + report_max + 64];
static size_t used;

static void put_byte(char byte) {
  if (used < header_bytes + report_max) report[used++] = (unsigned char)byte;
}

static void put(const char *text) {
  for (; *text; text++) put_byte(*text > ' ' && *text < 127 ? *text : *text == ' ' ? ' ' : '?');
}

static void put_number(uintptr_t number, unsigned base) {
  char digits[32];
  int count = 0;
  do digits[count++] = "0123456789abcdef"[number % base];
  while ((number /= base) && count < 31);
  while (count) put_byte(digits[--count]);
}

static void put_hex(uintptr_t number) {
  put("0x");
  put_number(number, 16);
}

/* ---- symbols ---- */

struct match {
  uintptr_t offset; /* the address to look up, relative to the library's base */
  uint64_t value;
  uint32_t name;
  int is_found;
};

static long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000L + now.tv_nsec / 1000000L;
}

/* Reads the table once for all matches. */
static void match_symbols(struct match *matches, int count) {
  static Elf64_Sym symbols[step_bytes / sizeof(Elf64_Sym)];
  const uint64_t step = sizeof symbols / sizeof *symbols;
  long until = now_ms() + 50;
  if (table.fd < 0 || !count) return;
  for (uint64_t first = 0; first < table.count && now_ms() < until; first += step) {
    off_t at = table.symbols + (off_t)(first * sizeof *symbols);
    ssize_t bytes = pread(table.fd, symbols, sizeof symbols, at);
    if (bytes <= 0) return;
    uint64_t here = (uint64_t)bytes / sizeof *symbols;
    if (here > table.count - first) here = table.count - first;
    for (uint64_t i = 0; i < here; i++) {
      const Elf64_Sym *it = &symbols[i];
      if (ELF64_ST_TYPE(it->st_info) != STT_FUNC || it->st_shndx == SHN_UNDEF) continue;
      for (int m = 0; m < count; m++) {
        if (matches[m].offset < it->st_value || matches[m].offset - it->st_value >= it->st_size)
          continue;
        matches[m].value = it->st_value;
        matches[m].name = it->st_name;
        matches[m].is_found = 1;
      }
    }
  }
}

static void put_symbol(const struct match *match) {
  char name[symbol_max + 1];
  if (!match->is_found || match->name >= table.name_bytes) return;
  ssize_t count = pread(table.fd, name, symbol_max, table.names + (off_t)match->name);
  if (count <= 0) return;
  name[count] = 0;
  put(" (");
  put(name);
  put("+");
  put_hex(match->offset - match->value);
  put(")");
}

static void put_places(char letter, const uintptr_t *places, int count) {
  static struct match matches[frames_max];
  int n = 0;
  for (int i = 0; i < count && n < frames_max; i++) {
    if (table.library < 0 || library_at(places[i]) != table.library) continue;
    matches[n++] = (struct match){.offset = places[i] - libraries[table.library].base};
  }
  match_symbols(matches, n);
  n = 0;
  for (int i = 0; i < count; i++) {
    int library = library_at(places[i]);
    put_byte(letter);
    put_byte(' ');
    if (library < 0) {
      put_hex(places[i]);
    } else {
      put(libraries[library].name);
      put("+");
      put_hex(places[i] - libraries[library].base);
      if (library == table.library && n < frames_max) put_symbol(&matches[n++]);
    }
    put_byte('\n');
  }
}

/* ---- the report ---- */

void bgs_report_to(int socket, unsigned char kind, unsigned char version) {
  socket_fd = socket;
  frame_kind = kind;
  frame_version = version;
}

void bgs_report_begin(unsigned short flags) {
  memset(report, 0, header_bytes);
  report[4] = frame_kind;
  report[5] = frame_version;
  report[6] = (unsigned char)flags;
  used = header_bytes;
}

void bgs_report_signal(int number) {
  put("S ");
  put_number((uintptr_t)number, 10);
  put_byte('\n');
}

void bgs_report_place(uintptr_t at) { put_places('P', &at, 1); }

void bgs_report_address(uintptr_t address) {
  put("A ");
  put_hex(address);
  put_byte('\n');
}

void bgs_report_thread(pid_t thread) {
  char path[64] = "/proc/self/task/", name[32] = "", digits[16];
  int count = 0;
  for (pid_t rest = thread; rest && count < 15; rest /= 10) digits[count++] = (char)('0' + rest % 10);
  size_t at = strlen(path);
  while (count) path[at++] = digits[--count];
  memcpy(path + at, "/comm", 6);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t bytes = fd < 0 ? -1 : read(fd, name, sizeof name - 1);
  if (fd >= 0) close(fd);
  put("T ");
  if (bytes > 1) {
    name[bytes - 1] = 0;
    put(name);
    put_byte(' ');
  }
  put_number((uintptr_t)thread, 10);
  put_byte('\n');
}

void bgs_report_frames(const uintptr_t *frames, int count) { put_places('F', frames, count); }

void bgs_report_send(void) {
  for (int i = 0; i < 4; i++) {
    report[i] = (unsigned char)(used >> (8 * i));
    report[16 + i] = (unsigned char)((used - header_bytes) >> (8 * i));
  }
  send(socket_fd, report, used, MSG_NOSIGNAL | MSG_DONTWAIT);
}
