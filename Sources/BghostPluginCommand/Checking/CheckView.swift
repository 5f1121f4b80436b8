// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostCheck
internal import BghostTerminal

/// Prints the results of checks, one line each, and how the author can resolve those that did not pass.
struct CheckView {
    private let console: Console
    private let onlyFailed: Bool

    init(_ console: Console, onlyFailed: Bool) {
        self.console = console
        self.onlyFailed = onlyFailed
    }

    /// Whether the author must act.
    static func isTrouble(_ result: CheckResult) -> Bool {
        switch result.verdict {
        case .failed, .crashed, .warned: true
        case .passed, .skipped: false
        }
    }

    func show(_ result: CheckResult) {
        guard !onlyFailed || Self.isTrouble(result) else { return }
        let mark = console.out.painted(Self.mark(result.verdict))
        let name = DisplayWidth.padded(result.check + " ", to: 18)
        let place = result.handler.map { "\($0): " } ?? ""
        let words =
            switch result.verdict {
            case .passed: place + (CheckCatalog.check(result.check)?.title ?? "")
            case .failed: place + result.message
            case .crashed, .skipped, .warned:
                "\(place)\(result.verdict.rawValue): \(result.message)"
            }
        console.answer("\(mark) \(name)\(TerminalText.escaped(words))\n")
        guard !result.fix.isEmpty else { return }
        let fix = console.out.painted(TerminalText.escaped("fix: " + result.fix), .dim)
        console.answer("\(DisplayWidth.padded("", to: 20))\(fix)\n")
    }

    /// The last line: the counts, and the command that repeats the check.
    func end(_ report: CheckReport) {
        let counts = Verdict.allCases.compactMap { verdict -> String? in
            let count = report.count(verdict)
            return count == 0 ? nil : "\(count) \(verdict.rawValue)"
        }
        let who = report.plugin.map { "\($0.id) \($0.version)" } ?? report.file
        let mark = console.out.painted(report.hasPassed ? Style.Mark.good : .bad)
        let text =
            "\(who) \(report.hasPassed ? "passes" : "does not pass") at strictness"
            + " \(report.strictness): \(counts.joined(separator: ", ")); seed \(report.seed)"
        console.answer("\(mark) \(TerminalText.escaped(text))\n")
        guard !report.hasPassed else { return }
        console.remark("the same again: --reproduce \(report.seed)")
    }

    private static func mark(_ verdict: Verdict) -> Style.Mark {
        switch verdict {
        case .passed: .good
        case .failed, .crashed: .bad
        case .warned: .warning
        case .skipped: .none
        }
    }
}
