// SPDX-License-Identifier: Apache-2.0

/// What came of a check.
package enum Verdict: String, Equatable, Sendable, CaseIterable {
    case passed
    /// The plugin breaks a rule.
    case failed
    /// The plugin ended the process that it was checked in.
    case crashed
    /// It was not made; the message says why.
    case skipped
    /// No rule is broken, but something speaks against it.
    case warned
}

/// What a check found, if it did not pass.
package struct Finding: Error, Equatable, Sendable {
    package var verdict: Verdict
    /// What is wrong, and where.
    package var message: String
    /// What its author can do about it; "" if the message says so.
    package var fix: String

    static func failed(_ message: String, fix: String = "") -> Finding {
        Finding(verdict: .failed, message: message, fix: fix)
    }

    static func warned(_ message: String, fix: String = "") -> Finding {
        Finding(verdict: .warned, message: message, fix: fix)
    }

    static func skipped(_ message: String, fix: String = "") -> Finding {
        Finding(verdict: .skipped, message: message, fix: fix)
    }
}

/// One check of a plugin, or of one of its handlers, and what came of it.
package struct CheckResult: Equatable, Sendable {
    package var check: String
    /// `nil` if the check is of the plugin as a whole.
    package var handler: String?
    package var level: Int
    package var verdict: Verdict
    package var message = ""
    package var fix = ""
    package var milliseconds: UInt64 = 0
    /// The beginning of what the plugin wrote to its streams, repaired; only if it did not pass.
    package var output = ""
    /// Whether it was skipped because a check that it needs did not pass.
    var isForWantOfOthers = false

    /// Whether checks that build upon this one can be made.
    var carriesOthers: Bool {
        verdict != .failed && verdict != .crashed && !isForWantOfOthers
    }

    /// - Parameter finding: `nil` if the check passed.
    package init(of check: Check, handler: String?, _ finding: Finding?) {
        self.check = check.id
        self.handler = handler
        level = check.level
        verdict = finding?.verdict ?? .passed
        message = finding?.message ?? ""
        fix = finding?.fix ?? ""
    }
}

/// What a plugin says of itself, as far as that is known.
package struct CheckedPlugin: Equatable, Sendable {
    package struct Handler: Equatable, Sendable {
        package var name: String
        package var isSerial: Bool
    }

    package var id: String
    package var version: String
    package var handlers: [Handler]
}

/// All that came of checking one plugin.
package struct CheckReport: Equatable, Sendable {
    package var file: String
    package var plugin: CheckedPlugin?
    package var strictness: Int
    package var seed: UInt64
    package var results: [CheckResult]

    package func count(_ verdict: Verdict) -> Int { results.count { $0.verdict == verdict } }

    /// Whether the plugin holds what its strictness asks for; at 10, warnings count too.
    package var hasPassed: Bool {
        count(.failed) + count(.crashed) == 0
            && (strictness < CheckCatalog.strictnessMax || count(.warned) == 0)
    }
}
