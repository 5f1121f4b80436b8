// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostPlugin
internal import CBghostSystem
internal import Glibc

/// What grows from run to run.
enum LeakChecks {
    static let all = [
        check(
            "leaks-descriptors",
            "descriptors",
            fix: "close what a run opens before it ends, or in release()",
            perRun: 0.5
        ) { ProcessPicture.descriptors().count },
        check(
            "leaks-threads",
            "threads",
            fix: "join the threads of a run before it ends, or keep a few for all runs",
            perRun: 0.5
        ) { ProcessPicture.foreignThreads().count },
        check(
            "leaks-memory",
            "bytes of memory",
            fix:
                "free what a run allocates in release(); look with `valgrind` or -fsanitize=address",
            perRun: 64,
            batchesMax: 60
        ) { Int(bgs_allocated()) },
    ]

    private static func check(
        _ id: String,
        _ what: String,
        fix: String,
        perRun: Double,
        batchesMax: Int = stretch,
        _ measure: @escaping @Sendable () -> Int
    ) -> Check {
        Check(
            id,
            "its runs leave no \(what.split(separator: " ").last ?? "") behind",
            level: 8,
            .handler,
            needs: ["run", "overlap"],
            seconds: 60
        ) { (stage) throws(Finding) in
            guard let growth = try growth(stage, perRun, batchesMax, measure) else { return }
            let amount =
                growth < 10 && growth != growth.rounded()
                ? "\(Int(growth * 10)) per 10 runs"
                : "\(Int(growth)) per run"
            throw Finding.failed("its runs leave \(what) behind, \(amount)", fix: fix)
        }
    }

    /// How much more there is for each run of the last batches; `nil` if that is less than so much.
    private static func growth(
        _ stage: Stage,
        _ perRun: Double,
        _ batchesMax: Int,
        _ measure: @Sendable () -> Int
    ) throws(Finding) -> Double? {
        var manners = Subject.Manners()
        manners.lanes = 8
        let subject = try stage.subject(manners)
        let isSerial = try subject.handler().it.flags.contains(.serial)
        let lanes = isSerial ? 1 : manners.lanes
        // The first batch brings up what stays.
        _ = try batch(subject, lanes)
        grantTime(milliseconds: 30)
        var measured = [measure()]
        // Caches grow in steps, for as long as each thread still fills its own, and then stop; what
        // leaks goes on growing. A stretch that does not ends the matter, so only a plugin that leaks
        // takes the time of all.
        while measured.count <= batchesMax {
            let runs = try batch(subject, lanes)
            // Threads that are ending do not count.
            grantTime(milliseconds: 30)
            measured.append(measure())
            guard measured.count > stretch else { continue }
            let more = measured[measured.count - 1] - measured[measured.count - 1 - stretch]
            let growth = Double(more) / Double(stretch * runs)
            if growth < perRun { return nil }
            if measured.count > batchesMax { return growth }
        }
        return nil
    }

    /// How many batches are looked at together.
    private static let stretch = 5
    private static let runsOfBatch = 64

    /// Makes so many runs that what one leaves is told from what all share; returns how many.
    private static func batch(_ subject: Subject, _ lanes: Int) throws(Finding) -> Int {
        let end = Monotonic.now + 3_000_000_000
        var count = 0
        while count < runsOfBatch {
            guard Monotonic.now < end else {
                throw Finding.skipped(
                    "its runs take too long to make many of them",
                    fix: "give it --parameters with which a run takes less than a tenth of a second"
                )
            }
            var begun: [Subject.Begun] = []
            for lane in 0..<lanes { begun.append(try subject.begin(lane: lane)) }
            for run in begun {
                guard subject.finish(run).end != nil else {
                    throw Finding.skipped("a run did not end, so that nothing can be counted")
                }
            }
            count += lanes
            HostWatch.forgetRuns()
        }
        return count
    }
}
