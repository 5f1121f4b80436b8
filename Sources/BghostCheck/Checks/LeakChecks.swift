// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import BghostPlugin
internal import CBghostSystem
internal import Glibc

/// Resources that grow from run to run.
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
        batchesMax: Int = batchesOfWindow,
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

    /// The growth per run over the last batches; `nil` if it is below `perRun`.
    private static func growth(
        _ stage: Stage,
        _ perRun: Double,
        _ batchesMax: Int,
        _ measure: @Sendable () -> Int
    ) throws(Finding) -> Double? {
        var behavior = Subject.Behavior()
        behavior.slotCount = 8
        let subject = try stage.subject(behavior)
        let isSerial = try subject.handler().it.flags.contains(.serial)
        let slotCount = isSerial ? 1 : behavior.slotCount
        try requireShortRuns(subject)
        // The first batch creates lasting state.
        _ = try batch(subject, slotCount)
        grantTime(milliseconds: 30)
        var measured = [measure()]
        // Caches grow in steps while each thread fills its own, and then stop; a leak continues.
        // One window without growth ends the check, so only a leaking plugin needs the full time.
        while measured.count <= batchesMax {
            let runs = try batch(subject, slotCount)
            // Give ending threads time to disappear.
            grantTime(milliseconds: 30)
            measured.append(measure())
            guard measured.count > batchesOfWindow else { continue }
            let more = measured[measured.count - 1] - measured[measured.count - 1 - batchesOfWindow]
            let growth = Double(more) / Double(batchesOfWindow * runs)
            if growth < perRun { return nil }
            if measured.count > batchesMax { return growth }
        }
        return nil
    }

    /// Throws if a run computes for so long that a batch could not be made in its time on one processor.
    ///
    /// Runs side by side that compute wait for each other, and served time leaves these waits out: the
    /// batches of such a plugin would take a minute of all processors.
    private static func requireShortRuns(_ subject: Subject) throws(Finding) {
        var used: UInt64 = 0
        // The first run may create lasting state.
        for _ in 0..<2 {
            let before = processorTime
            guard try subject.carry().end != nil else { throw unending }
            used = processorTime - before
        }
        guard used > timeOfBatch / UInt64(runsOfBatch) else { return }
        throw Finding.skipped(
            "its runs compute for too long to make many of them",
            fix: "give it --parameters with which a run computes for less than 40 ms"
        )
    }

    /// The nanoseconds for which the threads of this process have computed.
    private static var processorTime: UInt64 { UInt64(max(0, clock())) * 1000 }

    private static var unending: Finding {
        .skipped("a run did not end, so that nothing can be counted")
    }

    /// Nanoseconds.
    private static let timeOfBatch: UInt64 = 3_000_000_000
    /// The number of batches in a window.
    private static let batchesOfWindow = 5
    private static let runsOfBatch = 64

    /// Performs enough runs to distinguish the growth per run from shared state; returns their
    /// number.
    private static func batch(_ subject: Subject, _ slotCount: Int) throws(Finding) -> Int {
        let time = ServedTime()
        var count = 0
        while count < runsOfBatch {
            guard time.rest(of: timeOfBatch) > 0 else {
                throw Finding.skipped(
                    "its runs take too long to make many of them",
                    fix: "give it --parameters with which a run takes less than a tenth of a second"
                )
            }
            var begun: [Subject.Begun] = []
            for slotIndex in 0..<slotCount { begun.append(try subject.begin(slotIndex: slotIndex)) }
            for run in begun {
                guard subject.finish(run).end != nil else { throw unending }
            }
            count += slotCount
            HostWatch.forgetRuns()
        }
        return count
    }
}
