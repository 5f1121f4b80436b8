// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import BghostTerminal

/// The error with which a command ends, for people and for scripts.
struct CommandFailure: Error, Equatable, Sendable {
    var status: ExitStatus
    /// A stable code such as `BG2101`; "" if there is none.
    var code: String
    /// The problem, one sentence without a full stop; safe for terminals.
    var message: String
    /// How to resolve it; "" if the message says so.
    var fix: String
    var candidates: [String]

    init(
        _ status: ExitStatus,
        code: String = "",
        _ message: String,
        fix: String = "",
        candidates: [String] = []
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.fix = fix
        self.candidates = candidates
    }

    init(_ fault: ControlFault) {
        self.init(
            ExitStatus(fault.code),
            code: fault.code.rawValue,
            TerminalText.escaped(fault.message),
            fix: TerminalText.escaped(fault.fix),
            candidates: fault.candidates.map(TerminalText.escaped)
        )
    }

    /// The text for stderr, with a final line break.
    func text(_ style: Style) -> String {
        let title = code.isEmpty ? "error" : "error[\(code)]"
        var text = style.painted(title, .bad) + ": \(message)\n"
        for candidate in candidates { text += "  \(candidate)\n" }
        if !fix.isEmpty { text += "  " + style.painted("fix", .strong) + ": \(fix)\n" }
        return text
    }

    /// The object for stdout with `--json`, without a line break.
    var json: String {
        let fault = API.Fault(
            code: code.isEmpty ? nil : code,
            message: message,
            fix: fix,
            candidates: candidates,
            exit: Int(status.rawValue)
        )
        return APICoder.text(Schema.error, API.Failure(error: fault))
    }
}
