// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
package import BghostTerminal

/// The error with which a command ends, for people and for scripts.
package struct CommandFailure: Error, Equatable, Sendable {
    package var status: ExitStatus
    /// A stable code such as `BG2101`; "" if there is none.
    package var code: String
    /// The problem, one sentence without a full stop; safe for terminals.
    package var message: String
    /// How to resolve it; "" if the message says so.
    package var fix: String
    package var candidates: [String]

    package init(
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

    package init(_ fault: ControlFault) {
        self.init(
            ExitStatus(fault.code),
            code: fault.code.rawValue,
            TerminalText.escaped(fault.message),
            fix: TerminalText.escaped(fault.fix),
            candidates: fault.candidates.map(TerminalText.escaped)
        )
    }

    /// The text for stderr, with a final line break.
    package func text(_ style: Style) -> String {
        let title = code.isEmpty ? "error" : "error[\(code)]"
        var text = style.painted(title, .bad) + ": \(message)\n"
        for candidate in candidates { text += "  \(candidate)\n" }
        if !fix.isEmpty { text += "  " + style.painted("fix", .strong) + ": \(fix)\n" }
        return text
    }

    /// The object for stdout with `--json`, without a line break.
    package var json: String {
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
