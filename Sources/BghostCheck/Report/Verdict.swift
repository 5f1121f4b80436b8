// SPDX-License-Identifier: Apache-2.0

/// The verdict of a check.
package enum Verdict: String, Equatable, Sendable, CaseIterable {
    case passed
    /// The plugin violates a rule.
    case failed
    /// The plugin ended the process in which it was checked.
    case crashed
    /// The check was not performed; the message contains the reason.
    case skipped
    /// The plugin violates no rule, but the message names a disadvantage.
    case warned
}

/// The finding of a check that did not pass.
package struct Finding: Error, Equatable, Sendable {
    var verdict: Verdict
    /// What is wrong, and where.
    var message: String
    /// What the author can do; "" if the message contains that.
    var fix: String

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

/// The result of one check, of a plugin or of one of its handlers.
package struct CheckResult: Equatable, Sendable {
    package var check: String
    /// `nil` if the check concerns the whole plugin.
    package var handler: String?
    var level: Int
    package var verdict: Verdict
    package var message = ""
    package var fix = ""
    var milliseconds: UInt64 = 0
    /// The beginning of the plugin's output on its streams, with invalid UTF-8 replaced; only if
    /// the check did not pass.
    var output = ""
    /// Whether it was skipped because a check that it needs did not pass.
    var isForWantOfOthers = false

    /// Whether checks that need this one can be performed.
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

/// The plugin's description of itself, as far as it is known.
package struct CheckedPlugin: Equatable, Sendable {
    package struct Handler: Equatable, Sendable {
        package var name: String
        var isSerial: Bool
    }

    package var id: String
    package var version: String
    package var handlers: [Handler]
}

/// All results for one plugin.
package struct CheckReport: Equatable, Sendable {
    package var file: String
    package var plugin: CheckedPlugin?
    package var strictness: Int
    package var seed: UInt64
    var results: [CheckResult]

    package func count(_ verdict: Verdict) -> Int { results.count { $0.verdict == verdict } }

    /// Whether the plugin passes at its strictness; at 10, warnings count too.
    package var hasPassed: Bool {
        count(.failed) + count(.crashed) == 0
            && (strictness < CheckCatalog.strictnessMax || count(.warned) == 0)
    }
}
