// SPDX-License-Identifier: Apache-2.0
// A handler in C++ that throws over the boundary: crashed(signalled SIGABRT), because bghost.h
// declares the functions noexcept. With THROW_C, through a pointer that hides this from the
// compiler.
#include <stdexcept>

#include "bghost.h"

BG_NOTE("abi=1.0;id=test.throw;runtime=c++");

namespace {

#ifdef THROW_C
#define MAYBE_NOEXCEPT
#else
#define MAYBE_NOEXCEPT noexcept
#endif

bool yes = true;

[[gnu::noinline]] void fault() {
  if (yes) throw std::runtime_error("over the boundary");
}

bg_status start(void *, const bg_run_info *) MAYBE_NOEXCEPT {
  fault();
  return BG_OK;
}

#ifdef THROW_C
const auto entry = reinterpret_cast<bg_status (*)(void *, const bg_run_info *) noexcept>(
    reinterpret_cast<void *>(start));
#else
constexpr auto entry = start;
#endif

const bg_task task = { sizeof task, 0, BG_LIT("throw"), {}, entry, nullptr, nullptr };
const bg_task *const tasks[] = { &task };
const bg_plugin plugin = {
  sizeof plugin, BG_ABI_MAJOR, 0,     BG_LIT("test.throw"), BG_LIT("1.0.0"), {}, 0, 1,
  tasks,         nullptr,      nullptr, nullptr,
};

}  // namespace

const bg_plugin *bghost_plugin_v1(const bg_host *) noexcept { return &plugin; }
