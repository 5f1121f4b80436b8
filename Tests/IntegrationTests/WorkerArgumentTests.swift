// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

extension Integration {
    /// The program of workers, started by something else than a daemon.
    @Suite struct WorkerArgumentTests {
        @Test(
            .timeLimit(.minutes(5)),
            arguments: [[], ["x"], ["1", "2"], ["-1"], ["0"], ["7x"], [""], ["99999999999"]]
        )
        func `A worker without the id of a daemon ends`(arguments: [String]) throws {
            let result = try Command.run([Artifact.path("bghost-worker")] + arguments)
            #expect(result.exitCode == 64)
            #expect(
                result.error == "bghost-worker is started by bghost; it has no use of its own\n"
            )
        }
    }
}
