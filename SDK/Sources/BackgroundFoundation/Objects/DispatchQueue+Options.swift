// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import FoundationEssentials

/// The quality of service of work.
///
/// It has no effect here: the run's limits apply.
public struct DispatchQoS: Hashable, Sendable {
    /// Apple's quality-of-service classes.
    public enum QoSClass: Sendable {
        case background, utility, `default`, userInitiated, userInteractive, unspecified
    }

    /// The class.
    public let qosClass: QoSClass

    private init(_ qosClass: QoSClass) { self.qosClass = qosClass }

    /// Work that no user waits for.
    public static let background = DispatchQoS(.background)
    /// Work whose progress a user watches occasionally.
    public static let utility = DispatchQoS(.utility)
    /// Work without a specific class.
    public static let `default` = DispatchQoS(.default)
    /// Work that a user waits for.
    public static let userInitiated = DispatchQoS(.userInitiated)
    /// Work that a user sees.
    public static let userInteractive = DispatchQoS(.userInteractive)
    /// Work without a specific class.
    public static let unspecified = DispatchQoS(.unspecified)
}

/// A point in time on a monotonic clock.
public struct DispatchTime: Hashable, Sendable {
    let instant: SuspendingClock.Instant

    /// The current time.
    public static func now() -> DispatchTime { DispatchTime(instant: .now) }

    /// A time later by a number of seconds.
    public static func + (time: DispatchTime, seconds: Double) -> DispatchTime {
        DispatchTime(instant: time.instant.advanced(by: .seconds(seconds)))
    }

    /// A time later by an interval.
    public static func + (time: DispatchTime, interval: DispatchTimeInterval) -> DispatchTime {
        DispatchTime(instant: time.instant.advanced(by: interval.duration))
    }
}

/// An interval of time.
public enum DispatchTimeInterval: Hashable, Sendable {
    case seconds(Int)
    case milliseconds(Int)
    case microseconds(Int)
    case nanoseconds(Int)

    var duration: Duration {
        switch self {
        case .seconds(let count): .seconds(count)
        case .milliseconds(let count): .milliseconds(count)
        case .microseconds(let count): .microseconds(count)
        case .nanoseconds(let count): .nanoseconds(count)
        }
    }
}

extension DispatchQueue {
    /// The attributes of a queue.
    public struct Attributes: OptionSet, Sendable {
        /// The raw bits.
        public let rawValue: UInt64
        /// Creates a set from its bits.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// The queue's work may overlap.
        public static let concurrent = Attributes(rawValue: 2)
    }

    /// Creates a queue.
    ///
    /// It is serial unless its attributes contain `.concurrent`.
    public convenience init(
        label: String,
        qos: DispatchQoS = .unspecified,
        attributes: Attributes = []
    ) { self.init(label, isSerial: !attributes.contains(.concurrent)) }

    /// The concurrent queue; all classes share one.
    public static func global(qos: DispatchQoS.QoSClass) -> DispatchQueue { global() }

    /// Runs work soon on Swift's pool.
    ///
    /// The work should not block.
    public func async(qos: DispatchQoS, execute work: @escaping @Sendable () -> Void) {
        async(execute: work)
    }

    /// Runs work at a time on the run's clock.
    ///
    /// If the run is over before that, the work does not run.
    public func asyncAfter(
        deadline: DispatchTime,
        qos: DispatchQoS = .unspecified,
        execute work: @escaping @Sendable () -> Void
    ) {
        let wait = SuspendingClock.now.duration(to: deadline.instant)
        let context = TaskContext.current
        Task.detached(executorPreference: context?.executor) { [self] in
            await TaskContext.$current.withValue(context) {
                do {
                    if let context {
                        try await context.sleep(for: wait)
                    } else {
                        try await Task.sleep(for: wait)
                    }
                    async(execute: work)
                } catch {
                    // The run is over, so its work is not needed.
                }
            }
        }
    }
}
