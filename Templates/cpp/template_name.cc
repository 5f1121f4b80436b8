// A plugin of bghost: counts the prime numbers up to a limit.
#include <bghost.h>

#include <charconv>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

BG_NOTE("abi=1.0;id=org.example.template-name;runtime=c++;params=checked");

namespace {

const bg_host *host;

bg_str text(std::string_view text) { return {text.data(), text.size()}; }

// One run, by its number. Runs may overlap, so what belongs to one is not kept in globals.
class Run {
 public:
  explicit Run(bg_run number) : number_(number) {}

  bool isToStop() const { return host->cancelled(host, number_) != BG_OK; }

  void log(std::string_view message) const { host->log(host, number_, 2, text(message)); }

  void progress(long done, long total, std::string_view phase) const {
    host->progress(host, number_, static_cast<uint64_t>(done), static_cast<uint64_t>(total),
                   text(phase));
  }

  // The parameter at a JSON pointer; nothing if there is none.
  std::optional<std::string> parameter(std::string_view pointer) const {
    size_t length = 0;
    if (host->param(host, number_, text(pointer), nullptr, 0, &length) == BG_E_ABSENT) return {};
    std::string value(length, '\0');
    if (host->param(host, number_, text(pointer), value.data(), length, &length) != BG_OK) {
      return std::string();
    }
    value.resize(length);
    return value;
  }

  // Ends the run; the answer is what start() returns.
  bg_status complete(bg_status status, std::string_view message, std::string_view json) const {
    bg_result result = {sizeof result, status, text(message), text(json), 0};
    return host->complete(host, number_, &result) == BG_OK ? BG_PENDING : BG_E_FAILED;
  }

 private:
  bg_run number_;
};

bool isPrime(long number) {
  if (number % 2 == 0) return number == 2;
  for (long divisor = 3; divisor * divisor <= number; divisor += 2) {
    if (number % divisor == 0) return false;
  }
  return true;
}

// Parameters come from the manifest and from requests: check them.
std::optional<long> readLimit(const Run &run) {
  const auto value = run.parameter("/limit");
  if (!value) return 1000000;
  long limit = 0;
  const char *end = value->data() + value->size();
  const auto read = std::from_chars(value->data(), end, limit);
  if (read.ec != std::errc() || read.ptr != end || limit < 2 || limit > 100000000) return {};
  return limit;
}

bg_status countPrimes(const Run &run) {
  const auto limit = readLimit(run);
  if (!limit) {  // BG_E_FINAL: another attempt would fail too
    return run.complete(BG_E_FINAL, "`limit` must be an integer of 2 to 100000000", "");
  }
  run.log("counting");
  long count = 0;
  long largest = 0;
  for (long number = 2; number <= *limit; number++) {
    if (number % 1024 == 0) {
      if (run.isToStop()) return BG_E_CANCELLED;
      run.progress(number, *limit, "counting");
    }
    if (isPrime(number)) {
      count++;
      largest = number;
    }
  }
  return run.complete(BG_OK, "", "{\"count\":" + std::to_string(count) + ",\"largest\":" +
                                     std::to_string(largest) + "}");
}

// No exception may cross the boundary: it would end the process.
bg_status start(void *, const bg_run_info *info) noexcept {
  const Run run(info->run);
  try {
    return countPrimes(run);
  } catch (const std::exception &error) {
    return run.complete(BG_E_FAILED, error.what(), "");
  } catch (...) {
    return BG_E_FAILED;
  }
}

constexpr std::string_view schema =
    R"({"type":"object","properties":{"limit":{"type":"integer","minimum":2,"maximum":100000000}}})";
// BG_TASK_MAY_BLOCK: start() takes as long as the run.
const bg_task primes = {sizeof primes,  BG_TASK_MAY_BLOCK, BG_LIT("primes"),
                        {schema.data(), schema.size()},    start, nullptr, nullptr};
const bg_task *const tasks[] = {&primes};
const bg_plugin plugin = {sizeof plugin,   BG_ABI_MAJOR, 0, BG_LIT("org.example.template-name"),
                          BG_LIT("0.1.0"), BG_LIT("Example"), 0, std::size(tasks), tasks,
                          nullptr,         nullptr, nullptr};

}  // namespace

const bg_plugin *bghost_plugin_v1(const bg_host *given) noexcept {
  host = given;
  return &plugin;
}
