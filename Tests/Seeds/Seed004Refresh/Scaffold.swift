// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
public import BackgroundTasks
public import Synchronization

/// In place of `@UIApplicationMain`.
public let seed004Refresh = Plugin(
    id: "org.example.snowdog",
    version: "1.0.0",
    delegate: AppDelegate.self
)

/// The work of the text; it continues until `isOpen` or until it is cancelled.
final class AppRefreshOperation: Operation, @unchecked Sendable {
    override func main() {
        while !isOpen.withLock({ $0 }), !isCancelled { std() }
    }

    private func std() { _ = Date() }
}

/// Whether the work may end.
public let isOpen = Mutex(true)
