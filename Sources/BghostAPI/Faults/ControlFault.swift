// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

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
        self.init(FaultCode(error.code), error.message, candidates: error.details)
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

extension API.Failure {
    package init(_ fault: ControlFault) {
        self.init(
            error: API.Fault(
                code: fault.code.rawValue,
                message: fault.message,
                fix: fault.fix,
                candidates: fault.candidates.isEmpty ? nil : fault.candidates
            )
        )
    }

    /// The fault; a code that only a newer daemon knows counts as an internal error.
    package var fault: ControlFault {
        ControlFault(
            error.code.flatMap(FaultCode.init(rawValue:)) ?? .internalError,
            error.message,
            fix: error.fix,
            candidates: error.candidates ?? []
        )
    }
}

extension ControlFault {
    /// The fault in an answer; `nil` if the answer is none.
    ///
    /// - Parameter node: the parsed bytes.
    package init?(answer bytes: [UInt8], parsed node: JSONNode) {
        // Any other answer has no such member, and need not be decoded twice.
        guard node["error"] != nil,
            let failure = try? APICoder.value(API.Failure.self, from: bytes, parsed: node)
        else { return nil }
        self = failure.fault
    }
}
