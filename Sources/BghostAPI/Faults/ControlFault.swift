// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostPolicy

/// Why an operator does not get what he asked for.
package struct ControlFault: Error, Equatable, Sendable, CustomStringConvertible {
    package var code: FaultCode
    /// What is wrong, one sentence without a full stop.
    package var message: String
    /// What to do about it; "" if the message says it.
    package var fix: String
    /// What may have been meant: ids or names.
    package var candidates: [String]

    package init(
        _ code: FaultCode,
        _ message: String,
        fix: String = "",
        candidates: [String] = []
    ) {
        self.code = code
        self.message = message
        self.fix = fix
        self.candidates = candidates
    }

    package init(_ error: SubmitError) {
        self.init(FaultCode(error.code), error.message)
    }

    package init(_ refusal: OperatorRefusal) {
        self.init(
            FaultCode(refusal.code),
            refusal.message,
            fix: refusal.fix,
            candidates: refusal.candidates
        )
    }

    package static func badRequest(_ message: String) -> ControlFault {
        ControlFault(.badRequest, message)
    }

    package var description: String {
        fix.isEmpty ? "[\(code.rawValue)] \(message)" : "[\(code.rawValue)] \(message); \(fix)"
    }
}

extension JSONWriter {
    /// Writes a fault as the whole of an answer.
    package mutating func value(_ fault: ControlFault) {
        object { writer in
            writer.member("schema", Schema.error)
            writer.member("error") { writer in
                writer.object { writer in
                    writer.member("code", fault.code.rawValue)
                    writer.member("message", fault.message)
                    writer.member("fix", fault.fix)
                    guard !fault.candidates.isEmpty else { return }
                    writer.member("candidates") { writer in
                        writer.array { writer in fault.candidates.forEach { writer.value($0) } }
                    }
                }
            }
        }
    }
}

extension ControlFault {
    /// Reads what the writer writes; `nil` if this is no fault.
    package init?(json: JSONNode) {
        guard let error = json["error"], let message = error["message"]?.string else { return nil }
        // A newer daemon may know codes that this program does not.
        let code = error["code"]?.string.flatMap(FaultCode.init(rawValue:)) ?? .internalError
        self.init(
            code,
            message,
            fix: error["fix"]?.string ?? "",
            candidates: error["candidates"]?.array?.compactMap(\.string) ?? []
        )
    }
}
