// SPDX-License-Identifier: Apache-2.0
// A handler that fetches a page, counts its own runs in the data directory, and asks for its next run.
#include <bghost.hpp>

#include <charconv>
#include <chrono>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace {

[[noreturn]] void fail(const std::string &what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// A descriptor that is closed at the end of its block, also by an exception.
class File {
 public:
  explicit File(const std::string &path)
      : descriptor_(open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
    if (descriptor_ < 0) fail(path);
  }
  ~File() { close(descriptor_); }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

// Appends a byte, which runs may do at the same time, and returns how many there are.
long count(const std::string &path) {
  const File file(path);
  if (write(file.descriptor(), ".", 1) != 1) fail(path);
  struct stat facts;
  if (fstat(file.descriptor(), &facts) != 0) fail(path);
  return static_cast<long>(facts.st_size);
}

std::string report(bghost::Run &run) {
  const auto url = run.parameter("/url");
  if (!url || url->empty()) throw bghost::permanent("`url` is missing");
  run.progress(0, 3, "fetching");
  bghost::FetchRequest request;
  request.url = *url;
  // It throws Cancelled if the host cancels the run meanwhile.
  const auto page = run.fetch(request);
  run.progress(1, 3, "counting");
  const long runs = count(run.dataDirectory() + "/runs");
  run.progress(2, 3, "submitting");
  if (const auto again = run.parameter("/again")) {
    int seconds = 0;
    std::from_chars(again->data(), again->data() + again->size(), seconds);
    if (seconds < 1 || seconds > 86400) throw bghost::permanent("`again` must be 1 to 86400 seconds");
    bghost::Request next;
    next.taskID = run.taskID();
    next.parameters = run.parameters();
    next.earliest = std::chrono::system_clock::now() + std::chrono::seconds(seconds);
    run.submit(next);
  }
  run.progress(3, 3, "done");
  run.log("fetched " + std::to_string(page.body.size()) + " bytes");
  return "{\"status\":" + std::to_string(page.status) + ",\"bytes\":" + std::to_string(page.body.size()) +
         ",\"runs\":" + std::to_string(runs) + "}";
}

constexpr std::string_view schema =
    R"({"type":"object","required":["url"],"properties":{"url":{"type":"string"},)"
    R"("again":{"type":"integer","minimum":1,"maximum":86400}}})";

}  // namespace

BGHOST_PLUGIN("org.example.report-cpp", "1.0.0", "Example", bghost::handler<report>("report", schema));
