// SPDX-License-Identifier: Apache-2.0

import BghostConfiguration
@testable import BghostHost
import BghostModel
import BghostServices
import BghostTestSupport
import Testing

extension Integration {
    /// Numbers of workers, after four billion of them.
    @Suite struct SerialNumberTests {
        @Test func `Serial numbers wrap, without 0 and numbers in use`() {
            var numbers = SerialNumbers(after: .max - 2)
            var used: Set<UInt32> = [1, 2, 4]
            var given: [UInt32] = []
            for _ in 0..<5 {
                let next = numbers.next { used.contains($0) }
                used.insert(next)
                given.append(next)
            }
            #expect(given == [.max - 1, .max, 3, 5, 6])
        }

        @Test(.timeLimit(.minutes(5)))
        func `A daemon continues past the last serial number`() async throws {
            try await withDaemon(
                try TestManifest.misbehave(),
                adjust: { configuration in
                    configuration.lastSerial = .max - 2
                    // Each run has a worker of its own.
                    configuration.timeouts.idle = 0
                }
            ) { daemon in
                // This run lives across the end of the numbers.
                let long = try await daemon.begin("honour-cancel")
                var pids: Set<Int32> = []
                for _ in 0..<6 {
                    // It fails, so its worker is not used again.
                    let run = try await daemon.run("fail")
                    #expect(run.outcome == .failed)
                    pids.insert(try #require(run.pid))
                }
                #expect(pids.count == 6)
                #expect(try await daemon.run("stdout-lines").outcome == .succeeded)
                #expect(await daemon.host.stop(run: long.id))
                #expect(try await daemon.end(of: long).outcome != .succeeded)
            }
        }
    }
}
