// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials

extension TestHost {
    /// A host whose patience no busy machine exceeds.
    ///
    /// Without `patience`, tests get this one instead of that of the library.
    convenience init(
        _ plugin: Plugin,
        tasks: String? = nil,
        as name: String? = nil,
        now: String = "2026-01-01T00:00:00Z",
        dataDirectory: URL? = nil
    ) throws {
        try self.init(
            plugin,
            tasks: tasks,
            as: name,
            now: now,
            dataDirectory: dataDirectory,
            seed: 0,
            patience: .seconds(3600)
        )
    }
}
