// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostLinux
package import BghostModel
package import BghostServices
package import BghostTransfer
internal import Synchronization

/// Sends spans to a receiver of OTLP over HTTP, in batches.
///
/// Any thread may use it. To record a span costs O(1) and waits for nothing; a task of its own writes and
/// sends the batches. While no span waits, there is no task and no connection attempt.
package final class TraceExporter: SpanRecorder {
    package struct Limits: Sendable {
        /// The most spans that wait; then the oldest is dropped.
        package var queueMax = 2048
        /// The most spans of one request.
        package var batchMax = 512
        /// How long a span waits for others, nanoseconds.
        package var linger: UInt64 = 5_000_000_000
        /// How long one request may take.
        package var timeout = Duration.seconds(10)
        /// How long a shutdown waits for the last spans, nanoseconds.
        package var shutdown: UInt64 = 2_000_000_000
        package var backoff = ExportBackoff()

        package init() {}
    }

    private struct State {
        var settings: TraceSettings?
        var queue: SpanQueue
        var counts = SpanCounts()
        /// Sends what waits; `nil` while nothing does.
        var task: Task<Void, Never>?
        /// Waits for more spans, or for the next attempt.
        var pause: Task<Void, Never>?
        /// Whether the pause ends when a batch is full.
        var isLingering = false
        var isClosing = false
        /// Whether the log has said that the receiver fails, and that spans are dropped.
        var saidFailing = false
        var saidDropped = false
        /// The spans that were dropped since the last success.
        var droppedSince: UInt64 = 0
    }

    private let fetcher: any Fetching
    private let clock: any TransferClock
    private let log: HostLog
    private let text: OTLPText
    private let limits: Limits
    private let state: Mutex<State>
    private let isSending = Atomic<Bool>(false)
    private let sample = Atomic<Int>(0)

    /// The most bytes of an answer that are read.
    private static let answerBytesMax = 64 << 10

    /// Creates an exporter that is off until `apply` names a receiver.
    ///
    /// - Parameters:
    ///   - fetcher: sends the requests; the caller shuts it down after the exporter.
    ///   - version: the version of the program.
    package init(
        fetcher: any Fetching,
        log: HostLog,
        version: String,
        limits: Limits = Limits(),
        clock: any TransferClock = SystemTransferClock()
    ) {
        self.fetcher = fetcher
        self.clock = clock
        self.log = log
        self.limits = limits
        text = OTLPText(version: version, host: HostName.read())
        state = Mutex(State(queue: SpanQueue(capacity: limits.queueMax)))
    }

    // MARK: Spans

    package var isOn: Bool { isSending.load(ordering: .relaxed) }

    package func samples(traceLow: UInt64) -> Bool {
        let sample = sample.load(ordering: .relaxed)
        guard sample < TraceSettings.sampleMax else { return true }
        // Ids of one millisecond are consecutive, so their bits are mixed first.
        var mixer = SplitMix64(seed: traceLow)
        return Int(mixer.next() % UInt64(TraceSettings.sampleMax)) < sample
    }

    package var counts: SpanCounts {
        state.withLock { state in
            var counts = state.counts
            counts.queued = state.queue.count
            return counts
        }
    }

    package func record(_ span: Span) {
        let isFirstDrop = state.withLock { state in
            guard state.settings != nil, !state.isClosing else { return false }
            let hasDropped = state.queue.append(span)
            if state.task == nil { state.task = Task { await self.work() } }
            if state.isLingering, state.queue.count >= limits.batchMax { state.pause?.cancel() }
            guard hasDropped else { return false }
            state.counts.overflowed += 1
            state.droppedSince += 1
            defer { state.saidDropped = true }
            return !state.saidDropped
        }
        if isFirstDrop { logDrop("\(limits.queueMax) spans wait already") }
    }

    /// Takes up where spans are sent; the daemon calls it at its start and after a reload.
    ///
    /// - Parameter settings: `nil` switches it off and drops what waits.
    package func apply(_ settings: TraceSettings?) {
        state.withLock { state in
            guard state.settings != settings else { return }
            state.settings = settings
            // The next attempt goes to the new receiver at once.
            state.pause?.cancel()
            if settings == nil {
                let dropped = UInt64(state.queue.take(.max).count)
                state.counts.failed += dropped
            }
        }
        sample.store(settings?.sample ?? 0, ordering: .relaxed)
        isSending.store(settings != nil, ordering: .relaxed)
    }

    /// Sends what waits, once and within a bound, and accepts no more.
    package func shutDown() async {
        isSending.store(false, ordering: .relaxed)
        let task = state.withLock { state in
            state.isClosing = true
            state.pause?.cancel()
            return state.task
        }
        guard let task else { return }
        let end = clock.now + limits.shutdown
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await task.value
                return true
            }
            group.addTask { [clock] in
                // It throws when the other task is done, and then there is nothing to cancel.
                do { try await clock.sleep(until: end) } catch { return false }
                task.cancel()
                return false
            }
            for await isDone in group where isDone { group.cancelAll() }
        }
        let lost = counts.failed + counts.overflowed
        if lost > 0 {
            log.write(.info, "traces.ended", "\(lost) spans of this daemon were not exported")
        }
    }

    // MARK: Batches

    private func work() async {
        while true {
            await linger()
            let batch = state.withLock { state -> ([Span], TraceSettings)? in
                guard let settings = state.settings, state.queue.count > 0 else {
                    state.task = nil
                    return nil
                }
                return (state.queue.take(limits.batchMax), settings)
            }
            guard let batch else { return }
            await send(batch.0)
        }
    }

    /// Waits until a batch is full or its first span has waited for long enough.
    private func linger() async {
        let end = clock.now + limits.linger
        let pause = state.withLock { state -> Task<Void, Never>? in
            let isFull = state.queue.count >= limits.batchMax
            guard !isFull, !state.isClosing, state.queue.count > 0 else { return nil }
            state.isLingering = true
            state.pause = wait(until: end)
            return state.pause
        }
        await pause?.value
        state.withLock { state in
            state.pause = nil
            state.isLingering = false
        }
    }

    /// A task that a cancellation ends early.
    private func wait(until end: UInt64) -> Task<Void, Never> {
        Task { [clock] in
            // Both ends of the sleep mean that the wait is over.
            do { try await clock.sleep(until: end) } catch { return }
        }
    }

    /// Sends a batch until the receiver takes or refuses it, or its time is over.
    private func send(_ spans: [Span]) async {
        let body = text.bytes(of: spans)
        let start = clock.now
        var failures = 0
        while true {
            let (settings, isClosing) = state.withLock { ($0.settings, $0.isClosing) }
            guard let settings, !(isClosing && Task.isCancelled) else {
                return drop(spans.count, "the exporter is switched off")
            }
            switch await attempt(body, settings) {
            case .taken(let rejected, let message):
                return taken(spans.count, rejected: min(rejected, UInt64(spans.count)), message)
            case .refused(let reason): return drop(spans.count, reason)
            case .later(let asked, let reason):
                failures += 1
                let delay = limits.backoff.delay(
                    after: failures,
                    elapsed: clock.now - start,
                    asked: asked
                ) { UInt64.random(in: 0..<$0) }
                guard let delay, await pauses(for: delay, settings, reason) else {
                    return drop(spans.count, reason)
                }
            }
        }
    }

    /// Waits before the next attempt.
    ///
    /// - Returns: whether there is a next one.
    private func pauses(
        for delay: UInt64,
        _ settings: TraceSettings,
        _ reason: String
    ) async -> Bool {
        let end = clock.now + delay
        let (pause, isNews) = state.withLock { state -> (Task<Void, Never>?, Bool) in
            guard !state.isClosing else { return (nil, false) }
            let isNews = !state.saidFailing
            state.saidFailing = true
            // Other settings have come during the attempt: the next one is due at once.
            if state.settings == settings { state.pause = wait(until: end) }
            return (state.pause, isNews)
        }
        if isNews {
            log.write(
                .warning,
                "traces.failed",
                "\(Self.server(settings)) takes no spans, which wait: \(reason)"
            )
        }
        await pause?.value
        return state.withLock { state in
            state.pause = nil
            return !state.isClosing
        }
    }

    private func attempt(_ body: [UInt8], _ settings: TraceSettings) async -> ExportAnswer {
        var request = FetchRequest(
            url: settings.endpoint,
            method: "POST",
            headers: [("Content-Type", "application/json")]
                + settings.headers.map { ($0.name, $0.value) },
            body: .bytes(body),
            bytesMax: Self.answerBytesMax,
            timeout: limits.timeout
        )
        // A page that answers a GET has no spans.
        request.keepsMethod = true
        let server = Mutex<String?>(nil)
        do throws(FetchFailure) {
            // A redirect to another server would give it the headers, which may be secret.
            let response = try await fetcher.fetch(request) { host, port in
                server.withLock { known in
                    let target = "\(host):\(port)"
                    if known == nil { known = target }
                    return known == target
                }
            }
            return ExportAnswer(
                status: response.status,
                headers: response.headers,
                body: response.body,
                unixNow: clock.unixNow
            )
        } catch {
            switch error {
            case .permissionDenied:
                return .refused("it redirects to another server, which is not followed")
            case .badURL, .badHeader, .badMethod, .tooLarge, .headersTooLarge:
                return .refused(error.description)
            default: return .later(after: nil, reason: error.description)
            }
        }
    }

    // MARK: Results

    private func taken(_ count: Int, rejected: UInt64, _ message: String) {
        let (dropped, isBack, isNews) = state.withLock { state in
            state.counts.exported += UInt64(count) - rejected
            state.counts.failed += rejected
            guard rejected == 0 else {
                defer { state.saidDropped = true }
                return (UInt64(0), false, !state.saidDropped)
            }
            defer {
                state.saidFailing = false
                state.saidDropped = false
                state.droppedSince = 0
            }
            return (state.droppedSince, state.saidFailing || state.saidDropped, false)
        }
        if isNews { logDrop("the receiver rejected \(rejected): \(message)") }
        guard isBack else { return }
        log.write(
            .info,
            "traces.recovered",
            "spans are taken again; \(dropped) were dropped in the meantime"
        )
    }

    private func drop(_ count: Int, _ reason: String) {
        let isNews = state.withLock { state in
            state.counts.failed += UInt64(count)
            state.droppedSince += UInt64(count)
            defer { state.saidDropped = true }
            return !state.saidDropped && !state.isClosing && state.settings != nil
        }
        if isNews { logDrop(reason) }
    }

    private func logDrop(_ reason: String) {
        log.write(
            .warning,
            "traces.dropped",
            "spans are dropped: \(reason); `bghost_spans_dropped_total` counts them, and this line comes"
                + " again only after a success"
        )
    }

    /// The scheme, host and port of the receiver: the rest of its address may be secret.
    private static func server(_ settings: TraceSettings) -> String {
        let scheme = settings.endpoint.hasPrefix("https://") ? "https://" : "http://"
        return scheme + settings.endpoint.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    }
}
