// SPDX-License-Identifier: Apache-2.0

extension Outcome {
    /// The form in the control API, the log and output for people: `killed(graceExceeded)`.
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

    /// Parses the format of `text`; `nil` for any other text.
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

    /// The text in the parentheses after a word; "" if the text has another form.
    fileprivate static func argument(of word: String, in text: some StringProtocol) -> String {
        guard text.hasPrefix(word + "("), text.hasSuffix(")") else { return "" }
        return String(text.dropFirst(word.count + 1).dropLast())
    }
}

extension KillReason {
    /// The reason as one word, such as `memory` or `protocolFault(7)`.
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

    /// Parses the format of `text`; `nil` for any other text.
    init?(text: some StringProtocol) {
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

    /// Parses the format of `text`; `nil` for any other text.
    init?(text: some StringProtocol) {
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
    /// The reason as one word.
    package var text: String {
        switch self {
        case .expired: "expired"
        case .user: "user"
        case .drain: "drain"
        case .condition: "condition"
        case .quota: "quota"
        }
    }

    /// Parses the format of `text`; `nil` for any other text.
    package init?(text: some StringProtocol) {
        guard let reason = Self.allCases.first(where: { $0.text == text }) else { return nil }
        self = reason
    }
}

/// The names of the Linux signals.
///
/// The numbers are the same on every architecture that Swift supports.
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

    /// Parses the format of `text(of:)`; `nil` for any other text.
    static func number(of text: String) -> Int32? {
        if let index = names.firstIndex(of: text) { return Int32(index + 1) }
        guard text.hasPrefix("signal "), let number = Int32(text.dropFirst(7)), number > 0 else {
            return nil
        }
        return number
    }
}
