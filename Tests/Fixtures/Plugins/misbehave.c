/* SPDX-License-Identifier: Apache-2.0
 * Everything that a handler can do wrong while it runs, and a few that do right to compare with.
 * Each handler is named after what it does; the comment above its function says what the host must
 * make of it. Every one is bounded: left alone, none outgrows the machine. */
#include "behave.h"
#include "misbehave-children.h"
#include "misbehave-ending.h"
#include "misbehave-frames.h"
#include "misbehave-process.h"
#include "misbehave-resources.h"
#include "misbehave-signals.h"
#include "misbehave-stopping.h"

BG_NOTE("abi=1.0;id=test.misbehave;runtime=c");

#define TASK(name, flags, start, cancel, release)                                                  \
  &(const bg_task) {                                                                               \
    sizeof(bg_task), flags, BG_LIT(name), { 0, 0 }, start, cancel, release                         \
  }

static const bg_task *const tasks[] = {
  TASK("succeed", 0, succeed, 0, 0),
  TASK("echo", 0, echo, 0, 0),
  TASK("fail", 0, fail, 0, 0),
  TASK("retry", 0, retry, 0, 0),
  TASK("progress", 0, progress, 0, 0),
  TASK("report-and-wait", 0, report_and_wait, complete_cancelled, 0),
  TASK("stdout-lines", 0, stdout_lines, 0, 0),
  TASK("params", 0, params, 0, 0),
  TASK("submit", BG_TASK_MAY_BLOCK, submit, 0, 0),
  TASK("situation", BG_TASK_MAY_BLOCK, situation, 0, 0),
  TASK("submit-many", BG_TASK_MAY_BLOCK, submit_many, 0, 0),
  TASK("list-pending", BG_TASK_MAY_BLOCK, list_pending, 0, 0),
  TASK("fail-finally", 0, fail_finally, 0, 0),
  TASK("stop-late", BG_TASK_MAY_BLOCK, stop_late, 0, 0),
  TASK("state-and-release", 0, state_and_release, 0, log_release),
  TASK("honour-cancel", 0, honour_cancel, complete_cancelled, 0),
  TASK("honour-cancel-poll", BG_TASK_MAY_BLOCK, honour_cancel_poll, 0, 0),
  TASK("honour-cancel-fd", BG_TASK_MAY_BLOCK, honour_cancel_fd, 0, 0),
  TASK("serial", BG_TASK_SERIAL, honour_cancel, complete_cancelled, 0),
  TASK("needs-worker", BG_TASK_NEEDS_WORKER, succeed, 0, 0),
  TASK("ignore-cancel", 0, ignore_cancel, log_cancel, 0),
  TASK("never-complete", 0, never_complete, 0, 0),
  TASK("block-in-cancel", 0, never_complete, block_in_cancel, 0),
  TASK("ask-in-cancel", 0, never_complete, ask_in_cancel, 0),
  TASK("spin", 0, spin, 0, 0),
  TASK("cpu-burn", BG_TASK_MAY_BLOCK, cpu_burn, 0, 0),
  TASK("sleep-forever", BG_TASK_MAY_BLOCK, sleep_forever, 0, 0),
  TASK("complete-twice", 0, complete_twice, 0, 0),
  TASK("complete-after-cancel", 0, honour_cancel, complete_cancelled_twice, 0),
  TASK("complete-late", 0, complete_late, 0, let_go),
  TASK("invent-completions", BG_TASK_MAY_BLOCK, invent_completions, 0, 0),
  TASK("unknown-status", 0, unknown_status, 0, 0),
  TASK("own-status", 0, own_status, 0, 0),
  TASK("oversized-result", 0, oversized_result, 0, 0),
  TASK("bad-json-result", 0, bad_json_result, 0, 0),
  TASK("bad-utf8-message", 0, bad_utf8_message, 0, 0),
  TASK("bad-result-pointer", 0, bad_result_pointer, 0, 0),
  TASK("crash-in-start", 0, crash_in_start, 0, 0),
  TASK("abort-in-start", 0, abort_in_start, 0, 0),
  TASK("exit-in-start", 0, exit_in_start, 0, 0),
  TASK("crash-in-release", 0, succeed, 0, crash_in_release),
  TASK("exit-thread", BG_TASK_MAY_BLOCK, exit_thread, 0, 0),
  TASK("write-rubbish", 0, write_rubbish, 0, 0),
  TASK("forge-completion", 0, forge_completion, 0, 0),
  TASK("close-descriptors", 0, close_descriptors, 0, 0),
  TASK("fall-silent", 0, fall_silent, 0, 0),
  TASK("leak-descriptors", 0, leak_descriptors, 0, 0),
  TASK("flood-log", BG_TASK_MAY_BLOCK, flood_log, 0, 0),
  TASK("flood-progress", BG_TASK_MAY_BLOCK, flood_progress, 0, 0),
  TASK("odd-calls", 0, odd_calls, 0, 0),
  TASK("flood-stdout", BG_TASK_MAY_BLOCK, flood_stdout, 0, 0),
  TASK("allocate", BG_TASK_MAY_BLOCK, allocate, 0, 0),
  TASK("fork-in-group", 0, fork_in_group, 0, 0),
  TASK("fork-children", 0, fork_children, 0, 0),
  TASK("fork-without-end", BG_TASK_MAY_BLOCK, fork_without_end, 0, 0),
  TASK("daemonize-without-end", BG_TASK_MAY_BLOCK, daemonize_without_end, 0, 0),
  TASK("crash-with-daemons", 0, crash_with_daemons, 0, 0),
  TASK("succeed-with-daemons", 0, succeed_with_daemons, 0, 0),
  TASK("run-with-daemons", 0, run_with_daemons, complete_cancelled, 0),
  TASK("flood-frames", BG_TASK_MAY_BLOCK, flood_frames, 0, 0),
  TASK("flood-reports", BG_TASK_MAY_BLOCK, flood_reports, 0, 0),
  TASK("flood-taken", BG_TASK_MAY_BLOCK, flood_taken, 0, 0),
  TASK("flood-ends", BG_TASK_MAY_BLOCK, flood_ends, 0, 0),
  TASK("print-and-stay", BG_TASK_MAY_BLOCK, print_and_stay, 0, 0),
  TASK("burst-frames", BG_TASK_MAY_BLOCK, burst_frames, 0, 0),
  TASK("keep-foreign", BG_TASK_MAY_BLOCK, keep_foreign, 0, 0),
  TASK("keep-too-many", BG_TASK_MAY_BLOCK, keep_too_many, 0, 0),
  TASK("send-descriptors", BG_TASK_MAY_BLOCK, send_descriptors, 0, 0),
  TASK("flood-calls", BG_TASK_MAY_BLOCK, flood_calls, 0, 0),
  TASK("flood-refusals", BG_TASK_MAY_BLOCK, flood_refusals, 0, 0),
  TASK("illegal-instruction", 0, illegal_instruction, 0, 0),
  TASK("bus-error", 0, bus_error, 0, 0),
  TASK("overflow-stack", 0, overflow_stack, 0, 0),
  TASK("free-twice", 0, free_twice, 0, 0),
  TASK("write-constant", 0, write_constant, 0, 0),
  TASK("jump-out", 0, jump_out, 0, 0),
  TASK("quick-exit", 0, quick_exit_in_start, 0, 0),
  TASK("kill-itself", 0, kill_itself, 0, 0),
  TASK("stop-itself", 0, stop_itself, 0, 0),
  TASK("refuse-signals", BG_TASK_MAY_BLOCK, refuse_signals, 0, 0),
  TASK("take-signals", 0, take_signals, 0, 0),
  TASK("complete-in-signal", BG_TASK_MAY_BLOCK, complete_in_signal, 0, 0),
  TASK("crash-in-cancel", 0, never_complete, crash_in_cancel, 0),
  TASK("exit-in-cancel", 0, never_complete, exit_in_cancel, 0),
  TASK("thread-bomb", BG_TASK_MAY_BLOCK, thread_bomb, 0, 0),
  TASK("spin-in-threads", 0, spin_in_threads, 0, 0),
  TASK("lock-memory", BG_TASK_MAY_BLOCK, lock_memory, 0, 0),
  TASK("heed-memory", BG_TASK_MAY_BLOCK, heed_memory, 0, 0),
  TASK("heed-cpu", BG_TASK_MAY_BLOCK, heed_cpu, 0, 0),
  TASK("reserve", 0, reserve, 0, 0),
  TASK("fill-scratch", BG_TASK_MAY_BLOCK, fill_scratch, 0, 0),
  TASK("fill-data", BG_TASK_MAY_BLOCK, fill_data, 0, 0),
  TASK("crowd-data", BG_TASK_MAY_BLOCK, crowd_data, 0, 0),
  TASK("burrow-in-data", BG_TASK_MAY_BLOCK, burrow_in_data, 0, 0),
  TASK("giant-file", BG_TASK_MAY_BLOCK, giant_file, 0, 0),
  TASK("hoard-pipes", BG_TASK_MAY_BLOCK, hoard_pipes, 0, 0),
  TASK("raise-itself", 0, raise_itself, 0, 0),
  TASK("endless-line", BG_TASK_MAY_BLOCK, endless_line, 0, 0),
  TASK("odd-lines", 0, odd_lines, 0, 0),
  TASK("swap-cancel-fd", 0, swap_cancel_fd, 0, 0),
};

static const bg_plugin plugin_table = {
  sizeof plugin_table,
  BG_ABI_MAJOR,
  0,
  BG_LIT("test.misbehave"),
  BG_LIT("1.0.0"),
  BG_LIT("Fixtures"),
  0,
  sizeof tasks / sizeof *tasks,
  tasks,
  0,
  0,
  0,
};

const bg_plugin *bghost_plugin_v1(const bg_host *given) {
  host = given;
  return &plugin_table;
}
