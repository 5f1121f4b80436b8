// Tests of the handler, on a host that is as small as they need it: `make test`.
#include "template_name.cc"

#include <cstdio>
#include <cstring>

namespace {

// What a run sees of its host, and what it told it.
struct Fake {
  const char *limit = nullptr;  // the parameter; null: there is none
  bg_status   cancelled = BG_OK;
  int         reports = 0;  // of progress
  bg_status   status = BG_PENDING;
  std::string text;  // the message or the result
} fake;

bg_status fakeParam(const bg_host *, bg_run, bg_str, char *buffer, size_t capacity, size_t *need) noexcept {
  if (!fake.limit) return BG_E_ABSENT;
  *need = std::strlen(fake.limit);
  if (*need > capacity) return BG_E_SMALL;
  std::memcpy(buffer, fake.limit, *need);
  return BG_OK;
}

bg_status fakeCancelled(const bg_host *, bg_run) noexcept { return fake.cancelled; }

bg_status fakeProgress(const bg_host *, bg_run, uint64_t, uint64_t, bg_str) noexcept {
  fake.reports++;
  return BG_OK;
}

bg_status fakeLog(const bg_host *, bg_run, uint32_t, bg_str) noexcept { return BG_OK; }

bg_status fakeComplete(const bg_host *, bg_run, const bg_result *result) noexcept {
  const bg_str text = result->status == BG_OK ? result->payload : result->message;
  fake.status = result->status;
  fake.text.assign(text.ptr ? text.ptr : "", text.len);
  return BG_OK;
}

const void *fakeExtension(const bg_host *, const char *) noexcept { return nullptr; }

int failures = 0;

// Runs the handler, and compares its end.
void expect(const char *limit, bg_status cancelled, bg_status status, const std::string &text) {
  bg_host host{};
  host.size = sizeof host;
  host.abi_major = BG_ABI_MAJOR;
  host.complete = fakeComplete;
  host.cancelled = fakeCancelled;
  host.progress = fakeProgress;
  host.log = fakeLog;
  host.param = fakeParam;
  host.extension = fakeExtension;
  const bg_plugin *table = bghost_plugin_v1(&host);
  bg_run_info info{};
  info.size = sizeof info;
  info.attempt = 1;
  info.run = 1;
  info.task = table->tasks[0];
  fake = Fake{};
  fake.limit = limit;
  fake.cancelled = cancelled;
  table->tasks[0]->start(nullptr, &info);
  if (fake.status == status && fake.text == text) return;
  failures++;
  std::fprintf(stderr, "limit %s: status %d `%s`, not %d `%s`\n", limit ? limit : "absent",
               static_cast<int>(fake.status), fake.text.c_str(), static_cast<int>(status), text.c_str());
}

}  // namespace

int main() {
  const std::string wrong = "`limit` must be an integer of 2 to 100000000";
  expect("2", BG_OK, BG_OK, R"({"count":1,"largest":2})");
  expect("100", BG_OK, BG_OK, R"({"count":25,"largest":97})");
  expect(nullptr, BG_OK, BG_OK, R"({"count":78498,"largest":999983})");
  if (fake.reports != 976) {
    failures++;
    std::fprintf(stderr, "%d reports of progress, not 976\n", fake.reports);
  }
  expect("1", BG_OK, BG_E_FINAL, wrong);
  expect("many", BG_OK, BG_E_FINAL, wrong);
  expect("100000001", BG_OK, BG_E_FINAL, wrong);
  expect(nullptr, BG_WHY_EXPIRED, BG_E_CANCELLED, "cancelled");
  if (failures == 0) std::puts("all tests passed");
  return failures != 0;
}
