// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// The columns of a run's row.
enum RunColumns {
    static let names = names(version: Schema.version)
    static let count = 36

    /// The expressions for reading a row: its columns, and those of its origin.
    static func readNames(version: Int32 = Schema.version) -> String {
        guard version >= 6 else { return names(version: version) + ", NULL, NULL, NULL" }
        let origin = ["version", "library", "manifest"].map {
            "(SELECT o.\($0) FROM origin o WHERE o.number = source)"
        }
        return names(version: version) + ", " + origin.joined(separator: ", ")
    }

    /// The columns of a file that may not be migrated yet.
    private static func names(version: Int32) -> String {
        let later = version < 6 ? "NULL, NULL, NULL, NULL" : "kind, source, crash, output"
        return """
            id, request, task, plugin, attempt, epoch, state, outcome, outcome_detail, stop_reason,
            message, result, progress_done, progress_total, progress_phase, runtime_s, runtime_as,
            grace_s, grace_as, pid, submitted_at, started_at, ended_at, duration_s, duration_as, cpu_s,
            cpu_as, peak_memory, output_bytes, \(later), \(TraceColumns.name(version: version)),
            \(SubmitterColumns.name(version: version)), sum
            """
    }

    /// - Parameters:
    ///   - source: the row number of its origin.
    ///   - output: the row number of its output.
    static func bind(
        _ record: RunRecord,
        source: Int64?,
        output: Int64? = nil,
        to row: inout Arguments
    ) {
        row.add(record.id)
        row.add(record.request)
        row.add(record.task)
        row.add(record.plugin)
        row.add(record.attempt)
        row.add(record.epoch)
        row.add(record.state.rawValue)
        bind(record.outcome, to: &row)
        row.add(record.stopReason.map { Int64($0.rawValue) })
        row.add(record.message)
        row.add(record.result)
        row.add(record.progress.map { Int64(bitPattern: $0.done) })
        row.add(record.progress.map { Int64(bitPattern: $0.total) })
        row.add(record.progress?.phase)
        bind(record.limits.runtime, to: &row)
        bind(record.limits.grace, to: &row)
        row.add(record.pid.map { Int64($0) })
        row.add(record.submittedAt)
        row.add(record.startedAt)
        row.add(record.endedAt)
        bind(record.duration, to: &row)
        bind(record.usage.cpu, to: &row)
        row.add(record.usage.peakMemoryBytes.map { Int64(bitPattern: $0) })
        row.add(record.usage.outputBytes)
        row.addLater(record.kind?.rawValue)
        row.addLater(source)
        row.addLater(record.details?.stored)
        row.addLater(output)
        row.addLater(record.trace?.stored)
        row.addLater(record.submitterRun)
        row.addSum()
    }

    static func read(_ row: inout Row) throws(SQLiteFailure) -> RunRecord {
        row.restartSum()
        let id = try row.id()
        let request = try row.id()
        let task = row.text()
        let plugin = row.text()
        let attempt = Int(row.int())
        let epoch = row.uint()
        let state = RunState(rawValue: row.text())
        let outcome = try readOutcome(&row)
        let stopReason = row.optionalInt().flatMap { UInt32(exactly: $0) }
        let message = row.text()
        let result = row.text()
        let progress = (row.optionalInt(), row.optionalInt(), row.optionalText())
        let runtime = readDuration(&row)
        let grace = readDuration(&row)
        let pid = row.optionalInt()
        let submittedAt = row.int()
        let startedAt = row.optionalInt()
        let endedAt = row.optionalInt()
        let duration = readDuration(&row)
        let cpu = readDuration(&row)
        let peak = row.optionalInt().map { UInt64(bitPattern: $0) }
        let outputBytes = Int(row.int())
        // A kind that only a newer version knows is read as `nil`.
        let kind = row.laterText().flatMap { TaskKind(rawValue: $0) }
        // The column's value is part of the checksum only.
        _ = row.laterInt()
        let details = row.laterText().flatMap { RunDetails(stored: $0) }
        // As above.
        _ = row.laterInt()
        // A text that a newer version wrote is read as `nil`.
        let trace = row.laterText().flatMap { RunTrace(stored: $0) }
        let submitterRun = try row.laterID()
        try row.checkSum("the runs")
        let origin = (row.laterText(), row.laterText(), row.laterText())
        guard let state, let runtime, let grace else {
            throw .damaged("a run has no state or no limits")
        }
        return RunRecord(
            id: id,
            request: request,
            task: task,
            plugin: plugin,
            attempt: attempt,
            epoch: epoch,
            state: state,
            outcome: outcome,
            stopReason: stopReason.flatMap { StopReason(rawValue: $0) },
            message: message,
            result: result,
            progress: self.progress(progress),
            limits: RunLimits(runtime: runtime, grace: grace),
            pid: pid.map { Int32(truncatingIfNeeded: $0) },
            submittedAt: submittedAt,
            startedAt: startedAt,
            endedAt: endedAt,
            duration: duration,
            usage: RunUsage(cpu: cpu, peakMemoryBytes: peak, outputBytes: outputBytes),
            kind: kind,
            origin: self.origin(origin),
            details: details,
            trace: trace,
            submitterRun: submitterRun
        )
    }

    private static func origin(_ columns: (String?, String?, String?)) -> RunOrigin? {
        guard let version = columns.0, let library = columns.1, let manifest = columns.2 else {
            return nil
        }
        return RunOrigin(version: version, library: library, manifest: manifest)
    }

    private static func progress(_ columns: (Int64?, Int64?, String?)) -> RunProgress? {
        guard let done = columns.0, let total = columns.1, let phase = columns.2 else { return nil }
        return RunProgress(
            done: UInt64(bitPattern: done),
            total: UInt64(bitPattern: total),
            phase: phase
        )
    }

    // MARK: Durations

    /// Stores whole seconds and the remaining attoseconds, so that nothing is rounded.
    private static func bind(_ duration: Duration?, to row: inout Arguments) {
        row.add(duration?.components.seconds)
        row.add(duration?.components.attoseconds)
    }

    private static func readDuration(_ row: inout Row) -> Duration? {
        guard let seconds = row.optionalInt() else {
            // The second column of the pair is NULL too.
            _ = row.optionalInt()
            return nil
        }
        return Duration(secondsComponent: seconds, attosecondsComponent: row.int())
    }

    // MARK: Outcomes

    /// The stored number of an outcome; numbers instead of the words of `Outcome.text`, which do not
    /// distinguish every signal.
    ///
    /// A number is never used again.
    private enum OutcomeCode: Int64 {
        case succeeded = 0
        case failed = 1
        case cancelledClean = 2
        case killed = 3
        case exited = 4
        case signalled = 5
        case lost = 6
        case abandoned = 7
    }

    /// The stored numbers of the outcomes with a word.
    static func codes(of word: Outcome.Word) -> [Int64] {
        let codes: [OutcomeCode] =
            switch word {
            case .succeeded: [.succeeded]
            case .failed: [.failed]
            case .cancelledClean: [.cancelledClean]
            case .killed: [.killed]
            case .crashed: [.exited, .signalled]
            case .lost: [.lost]
            case .abandoned: [.abandoned]
            }
        return codes.map(\.rawValue)
    }

    private static func bind(_ outcome: Outcome?, to row: inout Arguments) {
        guard let outcome else {
            row.addNull()
            row.addNull()
            return
        }
        let (code, detail): (OutcomeCode, Int64?) =
            switch outcome {
            case .succeeded: (.succeeded, nil)
            case .failed: (.failed, nil)
            case .cancelledClean: (.cancelledClean, nil)
            case .killed(let reason): (.killed, number(of: reason))
            case .crashed(.exited(let status)): (.exited, Int64(status))
            case .crashed(.signalled(let number)): (.signalled, Int64(number))
            case .lost: (.lost, nil)
            case .abandoned: (.abandoned, nil)
            }
        row.add(code.rawValue)
        row.add(detail)
    }

    private static func readOutcome(_ row: inout Row) throws(SQLiteFailure) -> Outcome? {
        let number = row.optionalInt()
        let detail = row.optionalInt()
        guard let number else { return nil }
        let outcome: Outcome? =
            switch OutcomeCode(rawValue: number) {
            case .succeeded: .succeeded
            case .failed: .failed
            case .cancelledClean: .cancelledClean
            case .killed: try detail.map(killed)
            case .exited: detail.map { .crashed(.exited(Int32(truncatingIfNeeded: $0))) }
            case .signalled: detail.map { .crashed(.signalled(Int32(truncatingIfNeeded: $0))) }
            case .lost: .lost
            case .abandoned: .abandoned
            case nil: nil
            }
        guard let outcome, hasDetail(outcome) == (detail != nil) else {
            throw .damaged("a run has an outcome that does not exist")
        }
        return outcome
    }

    private static func hasDetail(_ outcome: Outcome) -> Bool {
        switch outcome {
        case .killed, .crashed: true
        case .succeeded, .failed, .cancelledClean, .lost, .abandoned: false
        }
    }

    /// The stored number of a reason other than a protocol fault; a number is never used again.
    private enum KillCode: Int64 {
        case graceExceeded = 0
        case memory = 1
        case cpu = 2
        case processes = 3
        case output = 4
        case startTimeout = 5
        case data = 6
    }

    private static let protocolFaults: Int64 = 1 << 16

    private static func number(of reason: KillReason) -> Int64 {
        let code: KillCode
        switch reason {
        case .graceExceeded: code = .graceExceeded
        case .memory: code = .memory
        case .cpu: code = .cpu
        case .processes: code = .processes
        case .output: code = .output
        case .startTimeout: code = .startTimeout
        case .data: code = .data
        case .protocolFault(let number): return protocolFaults + Int64(number)
        }
        return code.rawValue
    }

    private static func killed(_ number: Int64) throws(SQLiteFailure) -> Outcome {
        if let fault = UInt16(exactly: number &- protocolFaults) {
            return .killed(.protocolFault(fault))
        }
        switch KillCode(rawValue: number) {
        case .graceExceeded: return .killed(.graceExceeded)
        case .memory: return .killed(.memory)
        case .cpu: return .killed(.cpu)
        case .processes: return .killed(.processes)
        case .output: return .killed(.output)
        case .startTimeout: return .killed(.startTimeout)
        case .data: return .killed(.data)
        case nil: throw .damaged("a run was killed for a reason that does not exist")
        }
    }
}
