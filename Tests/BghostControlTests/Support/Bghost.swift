// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport

/// The program as it was built, with an environment that holds nothing of the tester's.
enum Bghost {
    static func run(
        _ arguments: [String],
        environment: [String] = []
    ) async throws -> Command.Result {
        try await onThread {
            try Command.run(
                ["env", "-i", "HOME=/nonexistent", "LANG=C.UTF-8"] + environment
                    + [Artifact.path("bghost")] + arguments
            )
        }
    }
}
