// SPDX-License-Identifier: Apache-2.0
// Handlers in C++ that end in each way, and one that calls what bghost.hpp wraps.
#include <bghost.hpp>

namespace {

std::string succeed(bghost::Run &run) {
  return "{\"attempt\":" + std::to_string(run.attempt()) + ",\"task\":\"" + std::string(run.taskID()) + "\"}";
}
std::string nothing(bghost::Run &) { return ""; }
std::string failing(bghost::Run &) { throw std::runtime_error("no luck"); }
std::string failFinally(bghost::Run &) { throw bghost::permanent("gone"); }
std::string retry(bghost::Run &) { throw bghost::retry("busy", bghost::Milliseconds(5)); }
std::string cancelled(bghost::Run &) { throw bghost::Cancelled(); }
std::string strange(bghost::Run &) { throw 42; }
std::string latin(bghost::Run &) { throw std::runtime_error("caf\xE9"); }
std::string tooLong(bghost::Run &) { return "\"" + std::string(1 << 20, 'x') + "\""; }
std::string notJSON(bghost::Run &) { return "{"; }
std::string refused(bghost::Run &run) {
  bghost::Request request;
  request.taskID = "no-such-task";
  run.submit(request);
  return "";
}

void require(bool condition, const char *what) {
  if (!condition) throw std::runtime_error(what);
}

template <typename Call> bg_status statusOf(Call call) {
  try {
    call();
    return BG_OK;
  } catch (const bghost::Error &error) {
    return error.status();
  }
}

std::string every(bghost::Run &run) {
  const std::string url = run.parameter("/url").value();
  require(!run.parameter("/none") && run.parameter("/long")->size() == 5000, "param");
  require(run.identity().runID.size() == 26 && run.missed().count == 0, "identity, missed");
  require(bghost::refreshStatus().status == BG_REFRESH_AVAILABLE, "refresh");

  require(!run.savedCheckpoint() && !run.trace(), "no checkpoint, no trace");
  run.checkpoint(std::string_view("a\0b", 3));
  require(run.savedCheckpoint() == std::string("a\0b", 3), "checkpoint");
  run.checkpoint({});
  require(!run.savedCheckpoint(), "deleted checkpoint");

  bghost::Request request;
  request.taskID = run.taskID();
  request.earliest = std::chrono::system_clock::now() + std::chrono::hours(1);
  run.submit(request);
  const auto pending = bghost::pendingRequests();
  require(pending.size() == 1 && run.taskID() == pending[0].task_id, "pending");
  require(bghost::cancelRequest(run.taskID()) && !bghost::cancelRequest(run.taskID()), "cancel");
  run.submit(request);
  bghost::cancelAllRequests();
  require(bghost::pendingRequests().empty(), "cancel_all");

  bghost::FetchRequest fetch;
  fetch.url = url;
  require(run.fetch(fetch).body.size() == 1000, "fetch");

  bghost::Transfer transfer;
  transfer.session = "s";
  transfer.url = url;
  const bg_transfer id = run.begin(transfer);
  require(run.wait(id).find("\"done\"") != std::string::npos, "wait");
  require(bghost::transfers("s") == "[]" && bghost::transfers("s", &id) == "[]", "list");
  require(!bghost::cancelTransfer(id) && run.claim("s") == "[]", "cancel, claim");

  bghost::Notification note;
  note.id = note.title = "n";
  note.at = request.earliest;
  run.post(note);
  require(bghost::withdrawNotification("n") && !bghost::withdrawNotification("n"), "withdraw");
  // This run has received the end, and it is no wake.
  require(statusOf([&] { bghost::acknowledge(id); }) == BG_E_ABSENT, "acknowledge");
  require(statusOf([&] { run.keep({id}); }) == BG_E_ABSENT, "keep");
  return "true";
}

}  // namespace

BGHOST_PLUGIN("test.ends", "1.0.0", "Test", bghost::handler<succeed>("succeed"),
              bghost::handler<nothing>("nothing"), bghost::handler<failing>("fail"),
              bghost::handler<failFinally>("fail-finally"), bghost::handler<retry>("retry"),
              bghost::handler<cancelled>("cancelled"), bghost::handler<strange>("strange"),
              bghost::handler<latin>("latin"), bghost::handler<tooLong>("too-long"),
              bghost::handler<notJSON>("not-json"), bghost::handler<refused>("refused"),
              bghost::handler<every>("every"));
