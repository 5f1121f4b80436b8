// SPDX-License-Identifier: Apache-2.0

/// One question to a plugin.
package struct Check: Sendable {
    /// What it is asked of.
    package enum Scope: Equatable, Sendable {
        /// The file: nothing of it is run.
        case file
        case plugin
        /// Each handler.
        case handler
    }

    /// A short name that never changes, for `--check`, scripts and JSON.
    package let id: String
    /// What holds if it passes.
    package let title: String
    /// The strictness from which on it is made, 1 to 10.
    package let level: Int
    package let scope: Scope
    /// Checks without which this one means nothing.
    package let needs: [String]
    /// How long it may take besides the runtimes and graces of `runs` runs one after the other.
    let seconds: Int
    let runs: Int
    /// Whether two processes make it together, at the same time.
    let isForTwo: Bool
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
        self.body = body
    }
}

/// All checks, each behind those that it needs.
package enum CheckCatalog {
    package static let strictnessMax = 10
    /// What a plugin must hold to run inside the daemon.
    package static let strictnessUsual = 5

    package static let checks: [Check] =
        FileChecks.all + LoadChecks.all + TableChecks.all + OpeningChecks.all + RunChecks.all
        + StopChecks.all + ProcessChecks.all + ClosingChecks.all + HostChecks.all
        + InputChecks.all + MemoryChecks.all + LeakChecks.all

    /// The check of a name.
    package static func check(_ id: String) -> Check? { checks.first { $0.id == id } }
}
