// SPDX-License-Identifier: Apache-2.0

import BghostFacts
@testable import BghostLinux
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct PolledSourceTests {
    /// A look that hangs as a dead file server does: nothing waits for it, it is not begun twice, and
    /// what it brings in the end counts.
    @Test func `A look that hangs makes it unknown`() async throws {
        let door = ThreadGate()
        let began = ThreadGate()
        let counter = Counter()
        let resident = try FactsResident()
        try await resident.start { _ in
            [
                PolledSource(.storage, name: "/mnt") {
                    counter.count.add(1, ordering: .relaxed)
                    began.open()
                    door.wait()
                    return [
                        FactReading(.storage, .state(true), text: "free", source: "/mnt")
                    ]
                }
            ]
        }
        began.wait()
        await resident.pass(seconds: 31)
        await resident.pass(seconds: 31)
        let silent = await resident.sheet[.storage]
        #expect(silent.value == .unknown)
        #expect(silent.reading == "no answer for 30 s")
        #expect(silent.source == "/mnt")
        #expect(counter.count.load(ordering: .relaxed) == 1)
        door.open()
        #expect(await resident.fact(.storage, is: .holds).reading == "free")
    }

    private final class Counter: Sendable {
        let count = Atomic<Int>(0)
    }
}
