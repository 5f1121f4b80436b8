// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostHost
import BghostLinux
@testable import BghostModel
import BghostOwnerSupport
import BghostServices
import Testing

/// The output of a worker whose lines belong to no single run.
@Suite(.timeLimit(.minutes(5))) struct SharedOutputTests {
    /// A line of 1 KiB, with its line break.
    private static let line = String(repeating: "o", count: 1023)

    private static func owners(_ reactor: Reactor) throws -> TestOwners {
        var manifest = SampleManifest.make {
            $0.overlap = .allow
            $0.retry.attemptsMax = 1
        }
        manifest.host.slots = 8
        let daemon = try TestOwners(reactor, manifest: manifest, slotCount: 8)
        daemon.becomeReady()
        return daemon
    }

    private static func print(_ kibibytes: Int, in daemon: TestOwners) {
        for _ in 0..<kibibytes {
            daemon.owners.pool.note(
                line,
                of: daemon.executor,
                run: nil,
                source: .stdout,
                level: .info
            )
        }
    }

    private static func kept(_ daemon: TestOwners) -> Int {
        daemon.log.entries(matching: LogFilter(), limit: 8192).count { $0.source == .stdout }
    }

    @Test func `Runs that share a worker have their limits together`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try Self.owners(actor.reactor)
            var runs: [ActiveRun] = []
            for _ in 0..<6 { runs.append(try await daemon.run()) }
            // Each may print 64 KiB.
            for _ in runs { Self.print(20, in: daemon) }
            #expect(Self.kept(daemon) == 120)
            #expect(!daemon.events.contains("output.limit"))
            for run in runs.dropLast() { daemon.end(run) }
            // Those that ended took their shares along; the last one's is 20 KiB.
            Self.print(44, in: daemon)
            #expect(Self.kept(daemon) == 164)
            Self.print(1, in: daemon)
            #expect(Self.kept(daemon) == 164 && daemon.events.contains("output.limit"))
        }
    }

    @Test func `Runs that begin beside it do not give a run that floods its output more`()
        async throws
    {
        try await ReactorActor.run { actor in
            let daemon = try Self.owners(actor.reactor)
            _ = try await daemon.run()
            for _ in 0..<30 {
                let other = try await daemon.run()
                Self.print(200, in: daemon)
                daemon.end(other)
            }
            #expect(daemon.executor.hasExceededOutput)
            // 64 KiB for each of the first two runs, and no more.
            #expect(Self.kept(daemon) == 128)
        }
    }

    @Test func `A run that begins alone begins to count anew`() {
        var output = SharedOutput()
        output.runBegan(runs: 1)
        #expect(output.add(100, limit: 100) == .kept)
        #expect(output.add(1, limit: 100) == .firstDropped)
        #expect(output.add(1, limit: 100) == .dropped)
        output.runBegan(runs: 2)
        #expect(output.add(1, limit: 200) == .kept)
        output.runEnded(runs: 2, limit: 100)
        #expect(output.add(1, limit: 100) == .kept)
        output.runEnded(runs: 1, limit: 100)
        #expect(output.bytes == 0)
        #expect(output.add(100, limit: 100) == .kept)
        output.runBegan(runs: 1)
        #expect(output.bytes == 0)
    }

    @Test func `Dropped lines count more than their bytes`() {
        var output = SharedOutput()
        var lines = 0
        while output.add(1, limit: 64 << 10) != .tooMuch { lines += 1 }
        #expect((90_000..<110_000).contains(lines), "\(lines)")
        #expect(!SharedOutput.isTooMuch(64 << 10, limit: 64 << 10))
        #expect(SharedOutput.isTooMuch(64 << 10, lines: 40_000, limit: 64 << 10))
    }
}
