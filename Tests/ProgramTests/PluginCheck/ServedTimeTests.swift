// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostCheck
import BghostLinux
import BghostTestSupport
import Glibc
import Testing

/// What counts of a check's time beside programs that want the same processor.
@Suite(.ownThreads) struct ServedTimeTests {
    @Test(
        arguments: [
            (0, 0, 0), (100, 0, 100), (100, 30, 70), (100, 80, 20), (100, 95, 20), (100, 400, 20),
        ] as [(UInt64, UInt64, UInt64)]
    )
    func `Waits for a processor do not count, up to four fifths`(
        passed: UInt64,
        waited: UInt64,
        counted: UInt64
    ) {
        #expect(ServedTime.counted(passed, waited: waited) == counted)
    }

    @Test func `A limit cannot be over before its plain time`() {
        let time = ServedTime()
        let hour: UInt64 = 3_600_000_000_000
        let rest = time.rest(of: hour)
        #expect(rest > 0 && rest <= hour)
        #expect(time.rest(of: 0) == 0)
    }

    /// Two programs that never rest share a processor, so each of them waits for it.
    @Test(
        .timeLimit(.minutes(5)),
        .enabled(if: access("/proc/self/schedstat", R_OK) == 0, "the kernel keeps no account")
    )
    func `A process that shares its processor has more time`() throws {
        // The last processor of those that the test may use.
        let own = try Command.run(["sh", "-c", "taskset -cp $$"]).output
        let processor = String(try #require(own.split { !$0.isNumber }.last))
        let spin = """
            echo begun >&2; n=0; while [ $n -lt 200000 ]; do n=$((n+1)); done; echo spun >&2
            while :; do :; done
            """
        let programs = try (0..<2).map { _ in
            try RunningProgram(command: ["taskset", "-c", processor, "sh", "-c", spin])
        }
        let start = Monotonic.now
        let time = ServedTime(ofNew: programs[0].pid)
        for program in programs {
            try #require(program.line(containing: "spun") != nil, "\(program.lines)")
        }
        let passed = Monotonic.now.since(start)
        let rest = time.rest(of: passed)
        #expect(rest > 0 && rest < passed, "\(rest) of \(passed) ns")
    }
}
