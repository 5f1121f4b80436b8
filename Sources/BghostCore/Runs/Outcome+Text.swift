// SPDX-License-Identifier: Apache-2.0

extension Outcome {
    /// The outcome as the control API, the log and people have it: `killed(graceExceeded)`.
    package var text: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed: "failed"
        case .cancelledClean: "cancelledClean"
        case .killed(let reason): "killed(\(reason.text))"
        case .crashed(let end): "crashed(\(end.text))"
        case .lost: "lost"
        case .abandoned: "abandoned"
        }
    }

    /// Reads what `text` writes; `nil` for anything else.
    package init?(text: some StringProtocol) {
        switch text {
        case "succeeded": self = .succeeded
        case "failed": self = .failed
        case "cancelledClean": self = .cancelledClean
        case "lost": self = .lost
        case "abandoned": self = .abandoned
        default:
            if let reason = KillReason(text: Self.argument(of: "killed", in: text)) {
                self = .killed(reason)
            } else if let end = ProcessEnd(text: Self.argument(of: "crashed", in: text)) {
                self = .crashed(end)
            } else {
                return nil
            }
        }
    }

    /// What stands in the brackets behind a word; "" if the text has another form.
    fileprivate static func argument(of word: String, in text: some StringProtocol) -> String {
        guard text.hasPrefix(word + "("), text.hasSuffix(")") else { return "" }
        return String(text.dropFirst(word.count + 1).dropLast())
    }
}

extension KillReason {
    /// The reason in one word, such as `memory` or `protocolFault(7)`.
    package var text: String {
        switch self {
        case .graceExceeded: "graceExceeded"
        case .memory: "memory"
        case .cpu: "cpu"
        case .processes: "processes"
        case .output: "output"
        case .data: "data"
        case .startTimeout: "startTimeout"
        case .protocolFault(let number): "protocolFault(\(number))"
        }
    }

    /// Reads what `text` writes; `nil` for anything else.
    package init?(text: some StringProtocol) {
        switch text {
        case "graceExceeded": self = .graceExceeded
        case "memory": self = .memory
        case "cpu": self = .cpu
        case "processes": self = .processes
        case "output": self = .output
        case "data": self = .data
        case "startTimeout": self = .startTimeout
        default:
            guard let number = UInt16(Outcome.argument(of: "protocolFault", in: text)) else {
                return nil
            }
            self = .protocolFault(number)
        }
    }
}

extension ProcessEnd {
    /// `SIGSEGV`, or `exit 3`.
    package var text: String {
        switch self {
        case .exited(let status): "exit \(status)"
        case .signalled(let number): SignalName.text(of: number)
        }
    }

    /// Reads what `text` writes; `nil` for anything else.
    package init?(text: some StringProtocol) {
        if text.hasPrefix("exit ") {
            guard let status = Int32(text.dropFirst(5)) else { return nil }
            self = .exited(status)
        } else {
            guard let number = SignalName.number(of: String(text)) else { return nil }
            self = .signalled(number)
        }
    }
}

extension StopReason {
    /// The reason in one word.
    package var text: String {
        switch self {
        case .expired: "expired"
        case .user: "user"
        case .drain: "drain"
        case .condition: "condition"
        case .quota: "quota"
        }
    }

    /// Reads what `text` writes; `nil` for anything else.
    package init?(text: some StringProtocol) {
        guard let reason = Self.allCases.first(where: { $0.text == text }) else { return nil }
        self = reason
    }
}

/// The signals of Linux by name.
///
/// Their numbers are those of every architecture that Swift runs on.
package enum SignalName {
    private static let names = [
        "SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE",
        "SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT",
        "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGXCPU",
        "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
    ]

    /// `SIGSEGV` for 11; `signal 34` for one without a name, such as the real-time signals.
    package static func text(of number: Int32) -> String {
        names.indices.contains(Int(number) - 1) ? names[Int(number) - 1] : "signal \(number)"
    }

    /// Reads what `text(of:)` writes; `nil` for anything else.
    package static func number(of text: String) -> Int32? {
        if let index = names.firstIndex(of: text) { return Int32(index + 1) }
        guard text.hasPrefix("signal "), let number = Int32(text.dropFirst(7)), number > 0 else {
            return nil
        }
        return number
    }
}
