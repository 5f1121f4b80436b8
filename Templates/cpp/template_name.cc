// A plugin of bghost: counts the prime numbers up to a limit.
#include <bghost.hpp>

#include <charconv>
#include <string>

namespace {

constexpr long limitMax = 100000000;

bool isPrime(long number) {
  if (number % 2 == 0) return number == 2;
  for (long divisor = 3; divisor * divisor <= number; divisor += 2) {
    if (number % divisor == 0) return false;
  }
  return true;
}

// Parameters come from the manifest and from requests: check them.
long readLimit(const bghost::Run &run) {
  const auto value = run.parameter("/limit");
  if (!value) return 1000000;
  long limit = 0;
  const char *end = value->data() + value->size();
  const auto read = std::from_chars(value->data(), end, limit);
  if (read.ec != std::errc() || read.ptr != end || limit < 2 || limit > limitMax) {
    // Permanent: another attempt would fail too.
    throw bghost::permanent("`limit` must be an integer of 2 to " + std::to_string(limitMax));
  }
  return limit;
}

// One run. Runs may overlap, so what belongs to one is not kept in globals. An exception fails the run.
std::string countPrimes(bghost::Run &run) {
  const long limit = readLimit(run);
  run.log("counting");
  long count = 0;
  long largest = 0;
  for (long number = 2; number <= limit; number++) {
    if (number % 1024 == 0) {
      run.checkCancelled();
      run.progress(static_cast<uint64_t>(number), static_cast<uint64_t>(limit), "counting");
    }
    if (isPrime(number)) {
      count++;
      largest = number;
    }
  }
  return "{\"count\":" + std::to_string(count) + ",\"largest\":" + std::to_string(largest) + "}";
}

constexpr std::string_view schema =
    R"({"type":"object","properties":{"limit":{"type":"integer","minimum":2,"maximum":100000000}}})";

}  // namespace

BGHOST_PLUGIN("org.example.template-name", "0.1.0", "Example",
              bghost::handler<countPrimes>("primes", schema));
