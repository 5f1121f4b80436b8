// SPDX-License-Identifier: Apache-2.0

import BghostConfiguration
@testable import BghostHost
import BghostStore

/// In nanoseconds.
let hour: Int64 = 3_600_000_000_000

/// Has a host keep what happens in its folder, as a daemon does.
func durable(_ configuration: inout HostConfiguration) {
    configuration.openStore = { directory throws(StoreError) in
        try SQLiteStore(path: directory + "/bghost.sqlite")
    }
}
