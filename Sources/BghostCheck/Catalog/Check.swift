// SPDX-License-Identifier: Apache-2.0

/// One check of a plugin.
package struct Check: Sendable {
    /// The subject of a check.
    enum Scope: Equatable, Sendable {
        /// The file, without running any of its code.
        case file
        case plugin
        /// Each handler.
        case handler
    }

    /// A short, stable name for `--check`, scripts and JSON.
    package let id: String
    /// The rule that holds if the check passes.
    package let title: String
    /// The lowest strictness that includes the check, 1 to 10.
    let level: Int
    let scope: Scope
    /// The checks that must have passed before this one.
    let needs: [String]
    /// The time limit, besides the runtimes and graces of `runs` consecutive runs.
    let seconds: Int
    let runs: Int
    /// Whether two processes perform the check together.
    let isForTwo: Bool
    /// How often a check that measures is repeated before its finding is believed: other processes
    /// on the same core can double the processor time that a piece of work takes.
    let attempts: Int
    let body: @Sendable (Stage) throws(Finding) -> Void

    init(
        _ id: String,
        _ title: String,
        level: Int,
        _ scope: Scope,
        needs: [String] = [],
        seconds: Int = 10,
        runs: Int = 2,
        isForTwo: Bool = false,
        attempts: Int = 1,
        body: @escaping @Sendable (Stage) throws(Finding) -> Void
    ) {
        self.id = id
        self.title = title
        self.level = level
        self.scope = scope
        self.needs = needs
        self.seconds = seconds
        self.runs = runs
        self.isForTwo = isForTwo
        self.attempts = attempts
        self.body = body
    }
}

/// All checks, each after those that it needs.
package enum CheckCatalog {
    static let strictnessMax = 10
    /// The strictness that a plugin must satisfy to run inside the daemon.
    static let strictnessUsual = 5

    package static let checks: [Check] =
        FileChecks.all + LoadChecks.all + TableChecks.all + OpeningChecks.all + RunChecks.all
        + StopChecks.all + ProcessChecks.all + ClosingChecks.all + HostChecks.all
        + InputChecks.all + MemoryChecks.all + LeakChecks.all

    /// The check with a name.
    package static func check(_ id: String) -> Check? { checks.first { $0.id == id } }
}
