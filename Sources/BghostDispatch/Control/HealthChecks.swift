// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostBase
internal import BghostFacts
internal import BghostLinux
package import BghostModel

/// What each check of the daemon's health says, by what was found.
///
/// All but ``disk(_:)`` are pure.
extension HealthReport.Check {
    /// - Parameter folder: the state directory.
    package static func store(_ status: StoreStatus, in folder: String) -> HealthReport.Check {
        file("store", holds: "transactions", status.failingSince, status.isFinal, in: folder) {
            status.sentence(since: $0)
        }
    }

    /// - Parameter folder: the state directory.
    package static func transferJournal(
        _ status: TransferJournalStatus,
        in folder: String
    ) -> HealthReport.Check {
        file("transferJournal", holds: "transfers", status.failingSince, status.isFinal, in: folder)
        {
            status.sentence(since: $0)
        }
    }

    /// A database of the state directory.
    ///
    /// - Parameter sentence: what fails, by the time since when.
    private static func file(
        _ name: String,
        holds what: String,
        _ failingSince: Int64?,
        _ isFinal: Bool,
        in folder: String,
        _ sentence: (String) -> String
    ) -> HealthReport.Check {
        guard let since = failingSince else { return .init(name, .ok, "\(what) are stored") }
        return .init(
            name,
            .critical,
            since: since,
            sentence(Timestamp.text(unixNanoseconds: since)),
            remedy: "repair the disk of \(folder) or make room on it"
                + (isFinal ? ", then restart bghost" : "")
        )
    }

    /// - Parameter runs: the number of runs in progress.
    package static func drain(isDraining: Bool, runs: Int) -> HealthReport.Check {
        guard isDraining else { return .init("drain", .ok, "bghost accepts work") }
        return .init(
            "drain",
            .warning,
            "bghost is stopping; \(CountText.of(runs, "run")) in progress"
        )
    }

    package static func clock(_ doubt: ClockDoubt?) -> HealthReport.Check {
        guard let doubt else { return .init("clock", .ok, "the wall clock is trusted") }
        return .init(
            "clock",
            .warning,
            "\(doubt.sentence); calendars wait for it",
            remedy: "start a time service, or set the clock"
        )
    }

    /// - Parameter count: the number of plugins, all of which can be used.
    package static func plugins(_ count: Int) -> HealthReport.Check {
        .init(
            "plugins",
            .ok,
            count == 0 ? "no plugin" : CountText.of(count, "plugin") + " can be used"
        )
    }

    /// A plugin that cannot be used.
    package static func plugin(
        _ name: String,
        file: String,
        problem: String,
        _ quarantine: Quarantine?
    ) -> HealthReport.Check {
        .init(
            "plugin",
            .warning,
            since: quarantine?.since,
            quarantine == nil
                ? "plugin \(name) cannot be used: \(problem)"
                : "plugin \(name) is quarantined: \(problem)",
            remedy: quarantine == nil
                ? "bghost plugin inspect \(file)" : "repair it, then `bghost enable \(name)`"
        )
    }

    /// - Parameters:
    ///   - found: the manifest on the disk; `nil` if it has errors.
    ///   - doubt: why it is not trusted; `nil` if it is.
    ///   - current: the manifest in force.
    package static func manifest(
        _ found: Manifest?,
        doubt: String?,
        against current: Manifest,
        path: String
    ) -> HealthReport.Check {
        if let doubt {
            return .init(
                "manifest",
                .warning,
                "\(path) is not trusted, and a restart would fail: \(doubt)",
                remedy: "correct the permissions of the file and its folders"
            )
        }
        guard var manifest = found else {
            return .init(
                "manifest",
                .warning,
                "\(path) has errors, and a restart would fail",
                remedy: "bghost check --config \(path)"
            )
        }
        // Comments and spaces do not matter.
        manifest.digest = current.digest
        guard manifest == current else {
            return .init(
                "manifest",
                .warning,
                "\(path) differs from the manifest in force",
                remedy: "bghost reload"
            )
        }
        return .init("manifest", .ok, "\(path) is in force")
    }

    /// Reads how much room the disk of a folder has; call it on a thread that may block.
    package static func disk(_ folder: String) -> HealthReport.Check {
        let reading = FreeSpace.read(folder)
        let text = "\(reading.text) at \(folder)"
        switch reading.measure.isEnough {
        case true?: return .init("disk", .ok, text)
        case false?:
            return .init(
                "disk",
                .warning,
                text,
                remedy: RequirementSet.storage.remedy(name: "storage")
            )
        case nil: return .init("disk", .warning, text)
        }
    }
}

extension ReadinessReport {
    /// - Parameter journal: the state of the journal of transfers; `nil` if none is open.
    package init(isDraining: Bool, _ store: StoreStatus, _ journal: TransferJournalStatus?) {
        var reasons: [Reason] = []
        if isDraining { reasons.append(.init("stopping", "bghost is stopping")) }
        if let since = store.failingSince {
            let moment = Timestamp.text(unixNanoseconds: since)
            reasons.append(.init("store", since: since, store.sentence(since: moment)))
        }
        if let journal, let since = journal.failingSince {
            let moment = Timestamp.text(unixNanoseconds: since)
            reasons.append(.init("transferJournal", since: since, journal.sentence(since: moment)))
        }
        self.init(reasons: reasons)
    }
}
