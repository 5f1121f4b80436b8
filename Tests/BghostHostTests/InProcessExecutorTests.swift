// SPDX-License-Identifier: Apache-2.0

@testable import BghostHost
import BghostLinux
import BghostModel
import BghostOwnerSupport
import BghostPlugin
import BghostWire
import Testing

/// A plugin inside the daemon, whose runtime is real and has loaded nothing.
@Suite(.timeLimit(.minutes(5))) struct InProcessExecutorTests {
    /// The host cannot kill such a run, so one without an end would keep its slot for ever.
    @Test func `A run that the runtime does not start ends as failed`() async throws {
        try await ReactorActor.run { actor in
            let daemon = try TestOwners(actor.reactor)
            let (woken, wake) = AsyncStream.makeStream(of: Void.self)
            let executor = InProcessExecutor(
                serial: 2,
                plugin: daemon.plugin,
                slotCount: 1,
                config: "{}",
                hostVersion: "test",
                events: InProcessEvents { wake.yield() }
            )
            let run: UInt64 = 1 << RunSlotNumber.bits
            let start = Start(
                run: run,
                handler: 0,
                attempt: 1,
                deadline: .max,
                graceMilliseconds: 1000,
                resultBytesMax: 1024,
                task: "backup",
                parameters: "{}"
            )
            #expect(executor.start(start))
            for await _ in woken { break }
            guard case .completed(let end)? = executor.events.take().first else {
                Issue.record("no end")
                return
            }
            #expect(end.run == run && end.status == -1 && end.isReleased)
            #expect(end.message == "the plugin's runtime refused to start the run")
            executor.stop()
        }
    }
}
