// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts

/// A source that polls periodically on a thread of its own, since reading may block.
///
/// A read that does not return makes its facts unknown and blocks only its own thread.
final class PolledSource: FactSource {
    let requirements: RequirementSet
    private(set) var deadline: MonotonicInstant = .never
    private let name: String
    private let origin: FactReading.Origin
    private var interval: UInt64
    private let take: @Sendable () -> [FactReading]
    private let signal: Uevents?
    private var signalToken: UInt64?
    private var context: FactSourceContext?
    private var thread: WorkThread?
    /// When the read in progress started.
    private var awaySince: MonotonicInstant?
    /// Whether to read again as soon as the read in progress returns, since its subject has
    /// changed.
    private var isOutdated = false

    /// How often a source without signals is read, nanoseconds.
    static let usualInterval: UInt64 = 30_000_000_000
    /// How often a source with signals is read in any case, nanoseconds.
    static let signalledInterval: UInt64 = 300_000_000_000

    /// - Parameters:
    ///   - name: the place that is read, for the message when no answer comes.
    ///   - origin: the origin of its readings.
    ///   - interval: the time between two reads, nanoseconds.
    ///   - signal: reports that a read is worthwhile.
    ///   - take: reads the facts.
    init(
        _ requirements: RequirementSet,
        name: String,
        origin: FactReading.Origin = .machine,
        interval: UInt64 = PolledSource.usualInterval,
        signal: Uevents? = nil,
        take: @escaping @Sendable () -> [FactReading]
    ) {
        self.requirements = requirements
        self.name = name
        self.origin = origin
        self.interval = interval
        self.signal = signal
        self.take = take
    }

    func start(_ context: FactSourceContext, now: MonotonicInstant) {
        self.context = context
        thread = WorkThread()
        // Watch it before the first read, so that no change in between is missed. If it cannot be
        // watched, the next periodic read finds the change.
        if let signal { signalToken = try? context.watch(signal.fd, for: .input) }
        poll(now: now)
    }

    func poll(now: MonotonicInstant) {
        guard let context, let thread else { return }
        deadline = now + interval
        if let awaySince {
            isOutdated = true
            if now >= awaySince + interval { reportSilence(context) }
            return
        }
        awaySince = now
        isOutdated = false
        let inbox = context.inbox
        thread.perform { [take] in inbox.post(.readings(take())) }
    }

    private func reportSilence(_ context: FactSourceContext) {
        let text = "no answer for \(interval / 1_000_000_000) s"
        for requirement in requirements.each {
            context.report(
                FactReading(requirement, .unknown, text: text, source: name, origin: origin)
            )
        }
    }

    func ready(_ token: UInt64, _ readiness: Readiness, now: MonotonicInstant) {
        guard let signal, token == signalToken else { return }
        switch signal.drain() {
        case .nothing: break
        case .wanted: poll(now: now)
        case .broken:
            // From now on, poll it like a source without signals.
            context?.unwatch(token)
            signalToken = nil
            interval = min(interval, Self.usualInterval)
            deadline = min(deadline, now + interval)
        }
    }

    func received(_ message: FactMessage, now: MonotonicInstant) {
        awaySince = nil
        if isOutdated { poll(now: now) }
    }

    func stop() {
        if let signalToken { context?.unwatch(signalToken) }
        signalToken = nil
        thread?.end()
        thread = nil
        context = nil
        deadline = .never
    }
}
