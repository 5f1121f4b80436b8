// SPDX-License-Identifier: Apache-2.0

import Testing

/// One wrong that a handler does, and what the host makes of it.
struct Hostility: Sendable, CustomTestStringConvertible {
    var handler: String
    /// How its run may end, each the beginning of an outcome's text: in more than one way where two
    /// limits race, or where it is a matter of the machine who stops it.
    var outcomes: [String]
    /// What the log must have of its run: the beginning of a line.
    var line: String?

    init(_ handler: String, _ outcomes: String..., line: String? = nil) {
        self.handler = handler
        self.outcomes = outcomes
        self.line = line
    }

    var testDescription: String { handler }
}

extension TestManifest {
    /// Each is a handler of the fixture `misbehave`.
    static let hostilities: [Hostility] = [
        // Frames past the runtime
        // A machine that reads them slowly comes to the end of the runtime first; `LimitTests` has a run
        // with the time for it.
        Hostility("flood-frames", "killed(protocolFault(14))", "killed(graceExceeded)"),
        Hostility("burst-frames", "succeeded"),
        Hostility("keep-foreign", "killed(protocolFault(12))"),
        Hostility("keep-too-many", "killed(protocolFault(8))"),
        Hostility("send-descriptors", "succeeded", line: "taken "),
        // Which of three limits a flood of calls reaches first is a matter of the machine: 55,000 calls in
        // a second (14) of one that is quick, replies that pile up (13) where the worker's reader is not
        // scheduled, the runtime where neither comes within 400 ms. The host's part is the same in all
        // three: the run ends in time by a limit of its own, and the others go on.
        Hostility(
            "flood-calls",
            "killed(graceExceeded)",
            "killed(protocolFault(13))",
            "killed(protocolFault(14))"
        ),
        Hostility(
            "flood-refusals",
            "killed(graceExceeded)",
            "killed(protocolFault(13))",
            "killed(protocolFault(14))"
        ),
        // Signals
        Hostility("illegal-instruction", "crashed(SIGILL)"),
        Hostility("bus-error", "crashed(SIGBUS)"),
        Hostility("overflow-stack", "crashed(SIGSEGV)"),
        Hostility("free-twice", "crashed(SIGABRT)"),
        Hostility("write-constant", "crashed(SIGSEGV)"),
        Hostility(
            "jump-out",
            "crashed(SIGSEGV)",
            "crashed(SIGABRT)",
            "crashed(SIGILL)",
            "crashed(SIGBUS)",
            "crashed(exit",
            "killed(graceExceeded)"
        ),
        Hostility("quick-exit", "crashed(exit 0)"),
        Hostility("kill-itself", "crashed(SIGKILL)"),
        Hostility("stop-itself", "killed(graceExceeded)"),
        Hostility("refuse-signals", "killed(graceExceeded)"),
        Hostility("take-signals", "succeeded"),
        Hostility("complete-in-signal", "succeeded", "killed(graceExceeded)"),
        Hostility("crash-in-cancel", "crashed(SIGSEGV)"),
        Hostility("exit-in-cancel", "crashed(exit 0)"),
        // All that there is of something
        Hostility("thread-bomb", "succeeded", "killed(memory)", line: "threads "),
        Hostility("spin-in-threads", "killed(graceExceeded)"),
        Hostility("lock-memory", "killed(memory)", "failed", "killed(graceExceeded)"),
        Hostility("reserve", "succeeded", line: "reserved "),
        Hostility("fill-scratch", "succeeded", line: "wrote "),
        Hostility("hoard-pipes", "succeeded", line: "hoarded "),
        Hostility("raise-itself", "succeeded", line: "refused 4 of 4"),
        Hostility("endless-line", "succeeded", "killed(output)", "killed(graceExceeded)"),
        Hostility("odd-lines", "succeeded", line: "level 99"),
        Hostility("swap-cancel-fd", "killed(graceExceeded)"),
    ]

    /// The older ones, which tests of their own look at more closely.
    static let knownHostilities: [Hostility] = [
        Hostility("succeed", "succeeded"),
        Hostility("fail", "failed"),
        Hostility("honour-cancel", "cancelledClean"),
        Hostility("honour-cancel-fd", "cancelledClean"),
        Hostility("complete-after-cancel", "cancelledClean"),
        Hostility("complete-twice", "succeeded"),
        Hostility("ignore-cancel", "killed(graceExceeded)"),
        Hostility("never-complete", "killed(graceExceeded)"),
        Hostility("sleep-forever", "killed(graceExceeded)"),
        Hostility("spin", "killed(graceExceeded)"),
        Hostility("block-in-cancel", "killed(graceExceeded)"),
        // libdispatch may trap when a thread of its pool ends.
        Hostility("exit-thread", "killed(graceExceeded)", "crashed(SIGILL)"),
        Hostility("crash-in-start", "crashed(SIGSEGV)"),
        Hostility("exit-in-start", "crashed(exit 0)"),
        Hostility("write-rubbish", "killed(protocolFault"),
        Hostility("forge-completion", "killed(protocolFault(12))"),
        Hostility("fork-in-group", "killed(graceExceeded)", "killed(processes)"),
        Hostility("flood-stdout", "killed(output)", "killed(graceExceeded)"),
        Hostility("allocate", "killed(memory)", "killed(graceExceeded)"),
    ]
}
