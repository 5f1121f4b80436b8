// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import Synchronization

/// The delegates of the app that is being created.
package final class AppDelegates: Sendable {
    private let launches = Mutex<[@Sendable () -> [AppPart]]>([])

    /// Those of the app that is being created; `nil` outside of that.
    private static var current: AppDelegates? {
        HandlerCollector.current?.objects.object { AppDelegates() }
    }

    /// Adds a delegate, whose launch method is called after the app is created.
    package static func adopt<Delegate: UIApplicationDelegate>(_ delegate: Delegate) {
        // Delegates are not Sendable in source for Apple's platforms. The handlers that call it are
        // serial, as launch handlers are; the plugin protects state that they share, as on iOS.
        nonisolated(unsafe) let delegate = delegate
        current?.launches.withLock { launches in
            launches.append {
                // On iOS, `false` says only that the app cannot open a URL.
                _ = delegate.application(.shared, didFinishLaunchingWithOptions: nil)
                return delegate.parts
            }
        }
    }

    /// Calls the launch methods of the delegates.
    ///
    /// - Returns: the parts that call the delegates in runs.
    package static func launch() -> [AppPart] {
        let launches = current?.launches.withLock { launches in
            defer { launches = [] }
            return launches
        }
        return (launches ?? []).flatMap { $0() }
    }
}
