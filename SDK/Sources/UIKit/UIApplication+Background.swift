// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
public import FoundationEssentials
internal import Synchronization

/// Identifies a background task of an app, which keeps a run in progress.
public struct UIBackgroundTaskIdentifier: Hashable, RawRepresentable, Sendable {
    /// The number; 0 for none.
    public let rawValue: Int
    /// Creates an identifier.
    public init(rawValue: Int) { self.rawValue = rawValue }
    /// No background task.
    public static let invalid = UIBackgroundTaskIdentifier(rawValue: 0)
}

extension UIApplication {
    /// Keeps the run in progress until `endBackgroundTask(_:)` is called, within the run's limits.
    ///
    /// As on iOS, a run that is never ended is killed at its limit.
    ///
    /// - Parameters:
    ///   - taskName: ignored.
    ///   - expirationHandler: called once when the run is cancelled, on a thread of the host, for
    ///     at most 100 ms, unless the background task was ended; it should end the work. Without a
    ///     handler, a cancelled run no longer waits.
    /// - Returns: the identifier; `.invalid` outside a run, and in a run that was cancelled.
    public func beginBackgroundTask(
        withName taskName: String? = nil,
        expirationHandler: (() -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier {
        guard let context = TaskContext.current else { return .invalid }
        guard let expirationHandler else { return BackgroundAssertions.begin(context, nil) }
        // The closure is not Sendable in source for Apple's platforms, and may set a variable. It
        // is called only once.
        nonisolated(unsafe) let handler = expirationHandler
        return BackgroundAssertions.begin(context) { handler() }
    }

    /// Ends a background task; further calls do nothing.
    public func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {
        BackgroundAssertions.end(identifier)
    }

    /// The seconds until the run is cancelled; the greatest finite value outside a run.
    public var backgroundTimeRemaining: TimeInterval {
        guard let remaining = TaskContext.current?.remainingTime else {
            return .greatestFiniteMagnitude
        }
        return Double(remaining.components.seconds)
            + Double(remaining.components.attoseconds) / 1e18
    }

    /// The state of an app.
    public enum State: Int, Sendable {
        case active, inactive, background
    }

    /// Always `.background`: there is no screen.
    public var applicationState: State { .background }

    /// Always `true`: the plugin can always read its data.
    public var isProtectedDataAvailable: Bool { true }

    /// Whether background work of this plugin may start.
    ///
    /// The call asks the daemon and blocks until it answers.
    public var backgroundRefreshStatus: BackgroundRefreshStatus {
        BGTaskScheduler.shared.refreshStatusNow
    }
}

/// Whether background work may start.
public typealias UIBackgroundRefreshStatus = BackgroundRefreshStatus

/// The background tasks that keep runs in progress.
private enum BackgroundAssertions {
    private struct Assertion {
        let sessions: RunSessions
        /// Called once, if the run is cancelled before the end; `nil` then ends the background task.
        var handler: (@Sendable () -> Void)?
    }

    private struct State {
        var last = 0
        var assertions: [UIBackgroundTaskIdentifier: Assertion] = [:]
    }

    private static let state = Mutex(State())

    static func begin(
        _ context: TaskContext,
        _ handler: (@Sendable () -> Void)?
    ) -> UIBackgroundTaskIdentifier {
        let sessions = context.sessions
        sessions.enter()
        let identifier = state.withLock { state in
            state.last += 1
            let identifier = UIBackgroundTaskIdentifier(rawValue: state.last)
            state.assertions[identifier] = Assertion(sessions: sessions, handler: handler)
            return identifier
        }
        guard sessions.onStop(context, { expire(identifier) }) else {
            // The caller does not know the identifier yet, so its handler could not end it.
            end(identifier)
            return .invalid
        }
        return identifier
    }

    static func end(_ identifier: UIBackgroundTaskIdentifier) {
        state.withLock { $0.assertions.removeValue(forKey: identifier) }?.sessions.leave()
    }

    private static func expire(_ identifier: UIBackgroundTaskIdentifier) {
        let handler = state.withLock { state in
            let handler = state.assertions[identifier]?.handler
            state.assertions[identifier]?.handler = nil
            return handler
        }
        if let handler { handler() } else { end(identifier) }
    }
}
