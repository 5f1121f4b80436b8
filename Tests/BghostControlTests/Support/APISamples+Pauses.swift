// SPDX-License-Identifier: Apache-2.0

@testable import BghostAPI
import BghostBase
import BghostModel
import BghostPolicy

extension APISamples {
    /// A pause that a person can read in the reference.
    static let pause = Pause(
        target: .tasks("org.example.*"),
        since: 1_795_262_400_000_000_000,
        until: 1_795_269_600_000_000_000,
        isRelative: true,
        user: "uid 0",
        reason: "new disk"
    )

    static let pauseChange = PauseChange(
        pause: pause,
        running: [RunID(high: 0x019A_A1B2_C3D4_7000, low: 7)],
        others: [Pause(target: .plugin("backup"), since: 1_795_262_000_000_000_000, user: "uid 0")]
    )
}
