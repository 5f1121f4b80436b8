// SPDX-License-Identifier: Apache-2.0

import BghostModel
import BghostTestSupport
import Testing

extension SeparateHosts {
    /// Hundreds of runs that do all sorts of wrong at once; `make storm` has ten thousand.
    @Suite struct StormTests {
        @Test(.timeLimit(.minutes(30)))
        func `No run of a storm outlasts its bound, none is lost and nothing is left`() async {
            let end = await #expect(
                processExitsWith: .success,
                observing: [\.standardOutputContent]
            ) {
                try await withLonelyDaemon(try Storm.manifest()) { daemon in
                    // Create all objects that exist once before the measurement.
                    _ = try await Storm(size: Storm.ends.count).rage(daemon)
                    let before = try await daemon.settled()
                    let memory = try residentMebibytes()
                    let report = try await Storm(size: Storm.wanted).rage(daemon)
                    tellOf(report)
                    #expect(report.submitted == report.ended)
                    #expect(report.late.isEmpty)
                    #expect(report.odd.isEmpty)
                    #expect(report.disturbed.isEmpty)
                    let after = try await daemon.settled()
                    expectNothingMore(after, than: before)
                    let grown = try residentMebibytes() - memory
                    // Records of runs and lines of the log are kept, up to a number.
                    #expect(grown < 48, "the daemon has grown by \(grown) MiB")
                    while try !controlGroupsOfWorkers().isEmpty { await Task.yield() }
                    // As good as new.
                    let last = try await daemon.runBesideOthers("echo", #"{"n":1}"#)
                    #expect(last.outcome == .succeeded)
                    printSummary(before, after, memory, grown)
                }
                let left = try Holdings().children
                #expect(left.isEmpty)
                print("storm: \(left.count) processes are left")
            }
            let text = String(decoding: end?.standardOutputContent ?? [], as: UTF8.self)
            for line in text.split(separator: "\n") where line.hasPrefix("storm: ") { print(line) }
        }
    }
}

/// The figures, for those who asked for a storm of their own.
private func tellOf(_ report: Storm.Report) {
    print("storm: \(report.submitted) runs of \(Storm.ends.count) handlers, \(report.ended) ended")
    print("storm: \(report.submitted - report.ended) lost, \(report.late.count) beyond their bound")
    print("storm: the latest was \(report.worst) beyond runtime and grace; the bound is 1 s")
    print("storm: \(report.witnesses) others among them, \(report.disturbed.count) disturbed")
    for (outcome, count) in report.outcomes.sorted(by: { $0.value > $1.value }) {
        print("storm: \(count) \(outcome)")
    }
    for line in (report.late + report.odd + report.disturbed).prefix(20) { print("storm: \(line)") }
}

private func printSummary(_ before: Holdings, _ after: Holdings, _ memory: Int, _ grown: Int) {
    print("storm: \(after.descriptors.count - before.descriptors.count) descriptors more")
    print("storm: \(after.threads - before.threads) threads more")
    print("storm: \(memory) MiB of memory before, \(grown) MiB more after")
}
