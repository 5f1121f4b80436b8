// SPDX-License-Identifier: Apache-2.0

import BghostModel

extension Sample {
    static func quarantine(_ plugin: String, reason: String) -> Quarantine {
        Quarantine(
            plugin: plugin,
            library: String(repeating: "a0", count: 32),
            host: "0.1.0 1.2.3",
            since: 9,
            reason: reason
        )
    }
}
