// SPDX-License-Identifier: Apache-2.0

extension Outcome {
    /// The words of the outcomes, without what follows in parentheses.
    ///
    /// Text is written and read by this one list.
    package enum Word: String, CaseIterable, Sendable {
        case succeeded, failed, cancelledClean, killed, crashed, lost, abandoned
    }

    package var word: Word {
        switch self {
        case .succeeded: .succeeded
        case .failed: .failed
        case .cancelledClean: .cancelledClean
        case .killed: .killed
        case .crashed: .crashed
        case .lost: .lost
        case .abandoned: .abandoned
        }
    }

    /// The form in the control API, the log and output for people: `killed(graceExceeded)`.
    package var text: String {
        switch self {
        case .killed(let reason): "\(word.rawValue)(\(reason.text))"
        case .crashed(let end): "\(word.rawValue)(\(end.text))"
        case .succeeded, .failed, .cancelledClean, .lost, .abandoned: word.rawValue
        }
    }

    /// Parses the format of `text`; `nil` for any other text.
    package init?(text: some StringProtocol) {
        guard let (name, argument) = Self.parts(of: text), let word = Word(rawValue: name) else {
            return nil
        }
        switch (word, argument) {
        case (.succeeded, nil): self = .succeeded
        case (.failed, nil): self = .failed
        case (.cancelledClean, nil): self = .cancelledClean
        case (.lost, nil): self = .lost
        case (.abandoned, nil): self = .abandoned
        case (.killed, let argument?):
            guard let reason = KillReason(text: argument) else { return nil }
            self = .killed(reason)
        case (.crashed, let argument?):
            guard let end = ProcessEnd(text: argument) else { return nil }
            self = .crashed(end)
        case (.killed, nil), (.crashed, nil), (.succeeded, _?), (.failed, _?),
            (.cancelledClean, _?), (.lost, _?), (.abandoned, _?):
            return nil
        }
    }

    /// The word before the parentheses, and the text in them; `nil` if they do not match.
    fileprivate static func parts(
        of text: some StringProtocol
    ) -> (word: String, argument: String?)? {
        guard let open = text.firstIndex(of: "(") else { return (String(text), nil) }
        guard text.hasSuffix(")") else { return nil }
        let argument = text[text.index(after: open)...].dropLast()
        return (String(text[..<open]), String(argument))
    }
}

extension KillReason: CaseIterable {
    /// The words of the reasons, without the number of a protocol fault.
    package enum Word: String, CaseIterable, Sendable {
        case graceExceeded, memory, cpu, processes, output, data, startTimeout, protocolFault
    }

    /// One reason for each word; that of `protocolFault` has the number 0.
    package static var allCases: [KillReason] { Word.allCases.map { KillReason($0, number: 0) } }

    private init(_ word: Word, number: UInt16) {
        self =
            switch word {
            case .graceExceeded: .graceExceeded
            case .memory: .memory
            case .cpu: .cpu
            case .processes: .processes
            case .output: .output
            case .data: .data
            case .startTimeout: .startTimeout
            case .protocolFault: .protocolFault(number)
            }
    }

    private var word: Word {
        switch self {
        case .graceExceeded: .graceExceeded
        case .memory: .memory
        case .cpu: .cpu
        case .processes: .processes
        case .output: .output
        case .data: .data
        case .startTimeout: .startTimeout
        case .protocolFault: .protocolFault
        }
    }

    /// The reason as one word, such as `memory` or `protocolFault(7)`.
    package var text: String {
        guard case .protocolFault(let number) = self else { return word.rawValue }
        return "\(word.rawValue)(\(number))"
    }

    /// Parses the format of `text`; `nil` for any other text.
    init?(text: some StringProtocol) {
        guard let (name, argument) = Outcome.parts(of: text), let word = Word(rawValue: name)
        else { return nil }
        guard word == .protocolFault else {
            guard argument == nil else { return nil }
            self.init(word, number: 0)
            return
        }
        guard let argument, let number = UInt16(argument) else { return nil }
        self.init(word, number: number)
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
