// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The driver: measures each row some rounds long and says what came out.
///
/// In a round a row's floor and its subject come one after the other, so that what else the machine
/// does hits both; the ratio is taken within the round, and its median over the rounds.
struct Bench {
    let options: BenchOptions

    init(_ options: BenchOptions) { self.options = options }

    /// Returns whether a step did not work.
    func run() throws -> Bool {
        let noiseBefore = Machine.noise()
        var results = try rows().map { Result(row: $0) }
        guard !results.isEmpty else {
            throw UsageError(description: "no row begins with `\(options.only ?? "")`")
        }
        for round in 1...options.rounds {
            Remark.write("round \(round) of \(options.rounds)")
            // Rows share steps, such as the p50 and the p99 of the same runs.
            var measured: [Step: [String: Double]] = [:]
            for index in results.indices where results[index].failure == nil {
                do {
                    try measure(&results[index], isFloorFirst: round % 2 == 1, &measured)
                } catch {
                    results[index].failure = "\(error)"
                    Remark.write("\(results[index].row.name): \(error)")
                }
            }
        }
        let machine = Machine(noise: noiseBefore, noiseAfter: Machine.noise())
        let report = Report(machine: machine, results: results, options: options)
        report.print()
        if let json = options.json { try report.writeJSON(json) }
        return results.contains { $0.failure != nil }
    }

    private func rows() throws -> [Row] {
        try DaemonManifest.write(options)
        return Row.all(options).filter { $0.name.hasPrefix(options.only ?? "") }
    }

    private func measure(
        _ result: inout Result,
        isFloorFirst: Bool,
        _ measured: inout [Step: [String: Double]]
    ) throws {
        let subject = result.row.subject
        var sources = [subject]
        if let floor = result.row.floor { sources.insert(floor.source, at: isFloorFirst ? 0 : 1) }
        var values: [Source: Double] = [:]
        for source in sources {
            let metrics = try measured[source.step] ?? source.step.measure(options)
            measured[source.step] = metrics
            guard let value = metrics[source.metric] else {
                throw BenchFailure(description: "there is no `\(source.metric)`")
            }
            values[source] = value * source.scale
        }
        let value = values[subject] ?? 0
        result.values.append(value)
        guard let floor = result.row.floor, let bare = values[floor.source] else { return }
        result.floors.append(bare)
        if bare > 0 { result.ratios.append(value / bare) }
    }
}

/// The manifest of the daemon that is measured: one plugin, and nothing that begins by itself.
enum DaemonManifest {
    static func write(_ options: BenchOptions) throws {
        let text = """
            {
              "version": 1,
              "plugins": { "bench": { "library": "\(options.files)/bench.so" } },
              "tasks": { "org.bghost.bench.nop": { "plugin": "bench", "handler": "nop" } }
            }

            """
        try TextFile.write(text, to: path(options))
    }

    static func path(_ options: BenchOptions) -> String { options.files + "/tasks.json" }
}

enum TextFile {
    static func write(_ text: String, to path: String) throws {
        let fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard fd >= 0 else { throw BenchFailure(description: "cannot write \(path)") }
        defer { close(fd) }
        var text = text
        let count = text.withUTF8 { Glibc.write(fd, $0.baseAddress, $0.count) }
        guard count == text.utf8.count else {
            throw BenchFailure(description: "cannot write all of \(path)")
        }
    }
}
