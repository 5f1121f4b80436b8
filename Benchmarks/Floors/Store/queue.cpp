/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <malloc.h>
#include <queue>
#include <vector>

namespace {

struct Entry {
  uint64_t due;
  uint64_t id;
};

struct Later {
  bool operator()(const Entry &a, const Entry &b) const { return a.due > b.due; }
};

uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

size_t heap_bytes() {
  struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

}  // namespace

int priority_queue(int count) {
  // A week of dates; the bench's own are made by the same rule.
  const uint64_t week = 7ull * 86400 * 1000;
  uint64_t       seed = 88172645463325252ull;
  auto           random = [&] {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
  };
  size_t                                               empty = heap_bytes();
  uint64_t                                             before = now_ns();
  std::priority_queue<Entry, std::vector<Entry>, Later> queue;
  for (int i = 0; i < count; i++) queue.push({random() % week, (uint64_t)i});
  double insert = double(now_ns() - before) / count;
  double bytes = double(heap_bytes() - empty) / count;
  uint64_t last = 0;
  before = now_ns();
  while (!queue.empty()) {
    if (queue.top().due < last) abort();
    last = queue.top().due;
    queue.pop();
  }
  std::printf("insert %.2f\nfire %.2f\nbytes %.2f\n", insert, double(now_ns() - before) / count,
              bytes);
  return 0;
}
