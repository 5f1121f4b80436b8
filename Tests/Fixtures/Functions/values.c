/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that hand back what they were handed, in every way that C has. The host must pass each
 * value unchanged. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int counter = 7; /* data: must be refused as a function */
EXPORT _Thread_local int per_thread = 8;

#define ECHO(name, type) \
  EXPORT type echo_##name(type value) { return value; }
ECHO(bool, _Bool)
ECHO(char, char)
ECHO(schar, signed char)
ECHO(uchar, unsigned char)
ECHO(short, short)
ECHO(ushort, unsigned short)
ECHO(int, int)
ECHO(uint, unsigned)
ECHO(long, long)
ECHO(ulong, unsigned long)
ECHO(longlong, long long)
ECHO(ulonglong, unsigned long long)
ECHO(int8, int8_t)
ECHO(uint8, uint8_t)
ECHO(int16, int16_t)
ECHO(uint16, uint16_t)
ECHO(int32, int32_t)
ECHO(uint32, uint32_t)
ECHO(int64, int64_t)
ECHO(uint64, uint64_t)
ECHO(size, size_t)
ECHO(ssize, ssize_t)
ECHO(intptr, intptr_t)
ECHO(uintptr, uintptr_t)
ECHO(float, float)
ECHO(double, double)
ECHO(string, const char *)

/* One class of the calling convention each: two registers, mixed registers, memory. */
struct pair { int x; double y; };
struct mixed { char tag; struct pair pair; float z; };
struct small { unsigned char a, b, c; };
struct large { long values[1]; double a, b; const char *name; };
ECHO(pair, struct pair)
ECHO(mixed, struct mixed)
ECHO(small, struct small)
ECHO(large, struct large)

EXPORT double area(struct pair a, int scale, struct pair b) { return (a.x + b.x) * (a.y + b.y) * scale; }

EXPORT void bump(struct pair *pair) { pair->x++, pair->y /= 2; }

EXPORT void nothing(void) {}

EXPORT const char *not_utf8(void) { return "a\xFF" "b"; }

EXPORT char *copy(const char *text) { return strdup(text); }

EXPORT void copy_to(const char *text, char **out) { *out = strdup(text); }

/* Says how much it wrote, once by its result and once by an argument. */
EXPORT ssize_t fill(void *to, size_t room, int count) {
  if (count < 0) return count;
  memset(to, 'x', (size_t)count < room ? (size_t)count : room);
  return count;
}
EXPORT void fill_sized(void *to, size_t *size) {
  size_t room = *size;
  memset(to, 'y', room / 2);
  *size = room / 2;
}

EXPORT void upper(char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (bytes[i] >= 'a' && bytes[i] <= 'z') bytes[i] -= 32;
}

EXPORT size_t sum(const unsigned char *bytes, size_t count) {
  size_t sum = 0;
  for (size_t i = 0; i < count; i++) sum += bytes[i];
  return sum;
}

EXPORT int is_null(const void *pointer) { return pointer == 0; }

/* A handle with a life of its own. */
EXPORT int *box_new(int value) {
  int *box = malloc(sizeof *box);
  if (box != 0) *box = value;
  return box;
}
EXPORT int box_open(int **out, int value) {
  *out = box_new(value);
  return 0;
}
EXPORT int box_value(const int *box) { return *box; }
EXPORT void box_free(int *box) { free(box); }

EXPORT int fails(int code) {
  errno = code;
  return -1;
}
