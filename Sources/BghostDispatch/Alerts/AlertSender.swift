// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
package import BghostAlerts
internal import BghostBase
package import BghostLinux
package import BghostModel
package import BghostServices

/// Hands messages to the receivers, and tries again what they do not take.
///
/// Each receiver has its own queue, so that one that hangs delays no other. The host owns it. Use it on the
/// reactor's thread only; the transport works on other threads. A message costs O(receivers), at most
/// ``AlertSettings/receiversMax``.
package final class AlertSender {
    /// The most messages that wait for a receiver; then the oldest is dropped.
    package static let queueMax = 64

    private let transport: (any AlertTransport)?
    private let spawner: Spawner
    private let clock: DaemonClock
    private let log: HostLog
    private let host: String
    private let retries: AlertRetries
    private let reactor: Reactor
    private var targets: [AlertTarget] = []
    private var lastTarget: UInt64 = 0
    /// The receivers that have not answered yet, by message.
    private var waiting: [UInt64: Int] = [:]
    /// The messages that a receiver took.
    private var delivered: Set<UInt64> = []
    private var isStopped = false
    /// Counts for metrics.
    package private(set) var counts = AlertCounts()
    /// Called when a receiver took a message, or none did and all have given up.
    var onEnd: (_ message: UInt64, _ isDelivered: Bool) -> Void = { _, _ in }
    /// Called when a receiver has begun or ceased to fail, or is known to fail or not for the first time.
    var onReceiver: (_ label: String, _ problem: String?) -> Void = { _, _ in }
    /// Whether a window is open in which no message is sent.
    var isMuted: () -> Bool = { false }
    /// Called when a message waits for the end of a window.
    var onHold: () -> Void = {}
    /// Posts a notification, and calls the closure when it is stored or refused.
    var post: (AlertDelivery, @escaping (Result<String, AlertFailure>) -> Void) -> Void = {
        $1(.failure(AlertFailure("the manifest has no `notifications`")))
    }
    private lazy var reference = ReactorReference(self, on: reactor)

    /// - Parameter transport: `nil` if the daemon has none, as in tests of other owners.
    package init(
        _ transport: (any AlertTransport)?,
        spawner: Spawner,
        reactor: Reactor,
        _ clock: DaemonClock,
        log: HostLog,
        host: String,
        retries: AlertRetries = AlertRetries()
    ) {
        self.transport = transport
        self.spawner = spawner
        self.reactor = reactor
        self.clock = clock
        self.log = log
        self.host = host
        self.retries = retries
    }

    var hasReceivers: Bool { !targets.isEmpty }

    /// The labels of the receivers.
    var labels: Set<String> { Set(targets.map(\.label)) }

    /// Whether each receiver fails.
    var isMute: Bool { !targets.isEmpty && targets.allSatisfy { $0.failingSince != nil } }

    /// Replaces the receivers; those that stay keep their messages.
    package func apply(_ receivers: [AlertReceiver]) {
        let old = targets
        let labels = old.map(\.label)
        targets = AlertTarget.targets(receivers, keeping: old, last: &lastTarget)
        defer {
            // Their alerts go by their labels, of which one may be that of another receiver now.
            let moved = zip(old, labels).filter { $0.label != $1 }
            for (_, label) in moved { onReceiver(label, nil) }
            for (target, _) in moved {
                onReceiver(target.label, target.failingSince == nil ? nil : target.error ?? "")
            }
        }
        for target in old where !targets.contains(where: { $0 === target }) {
            target.task?.cancel()
            for message in target.queue { end(message.number, isDelivered: false) }
            target.queue = []
        }
    }

    /// Sends a message to all receivers but the one that it is about.
    package func send(_ message: AlertMessage) {
        let about = Set(message.items.filter { $0.key.rule == .receiver }.map(\.key.subject))
        let isOnlyAboutReceivers = message.items.allSatisfy { $0.key.rule == .receiver }
        let wanted = targets.filter { target in
            !(isOnlyAboutReceivers && about.contains(target.label) && target.failingSince != nil)
        }
        guard !wanted.isEmpty, !isStopped else { return onEnd(message.number, false) }
        waiting[message.number] = wanted.count
        for target in wanted {
            if target.queue.count >= Self.queueMax {
                // The first one may be under way.
                let oldest = target.queue.remove(at: 1)
                target.unreported += 1
                counts.dropped += 1
                end(oldest.number, isDelivered: false)
            }
            target.queue.append(message)
            advance(target)
        }
    }

    /// Sends nothing more.
    package func stop() {
        isStopped = true
        for target in targets { target.task?.cancel() }
    }

    /// Whether a message waits for the end of a window in which none is sent.
    var isHolding: Bool { targets.contains(where: \.isHeld) }

    /// Sends what has waited for the end of a window; call it when none is open.
    func resume() {
        for target in targets where target.isHeld {
            target.isHeld = false
            attempt(target)
        }
    }

    // MARK: Attempts

    private func advance(_ target: AlertTarget) {
        guard target.task == nil, !target.isHeld, !target.queue.isEmpty, !isStopped else { return }
        let delay = retries.delay(after: target.attempts)
        guard delay > 0 else { return attempt(target) }
        let number = target.number
        target.task = Task { [reference] in
            // It is cancelled when its receiver is removed, or the daemon ends.
            do { try await Task.sleep(nanoseconds: delay) } catch { return }
            reference.perform { $0.delayPassed(number) }
        }
    }

    private func delayPassed(_ number: UInt64) {
        guard let target = target(number) else { return }
        target.task = nil
        attempt(target)
    }

    /// Sends the first message, or at the end of the window that is open.
    private func attempt(_ target: AlertTarget) {
        guard target.task == nil, let message = target.queue.first, !isStopped else { return }
        guard !isMuted() else {
            target.isHeld = true
            return onHold()
        }
        target.reported = target.unreported
        let delivery = AlertDelivery(message: message, host: host, dropped: target.reported)
        let (receiver, number) = (target.receiver, target.number)
        target.task = Task { [transport, spawner, reference] in
            if case .notifications = receiver {
                return reference.perform { $0.postNotification(delivery, number) }
            }
            let result =
                await transport?.send(delivery, to: receiver, spawner: spawner)
                ?? .failure(AlertFailure("this bghost sends no alerts"))
            reference.perform { $0.attempted(message.number, number, result) }
        }
    }

    private func postNotification(_ delivery: AlertDelivery, _ target: UInt64) {
        post(delivery) { [unowned self] in attempted(delivery.message.number, target, $0) }
    }

    /// The target with a number; `nil` if a reload has removed its receiver.
    private func target(_ number: UInt64) -> AlertTarget? {
        targets.first { $0.number == number }
    }

    private func attempted(
        _ message: UInt64,
        _ number: UInt64,
        _ result: Result<String, AlertFailure>
    ) {
        guard let target = target(number), target.queue.first?.number == message, !isStopped else {
            return
        }
        let label = target.label
        target.task = nil
        switch result {
        case .success:
            counts.sent += 1
            // Others may have been dropped while it was under way.
            target.unreported -= target.reported
            target.error = nil
            // Of what the daemon before knew, or another manifest, only the alert is left.
            let isNews = target.deliveredAt == nil || target.failingSince != nil
            target.deliveredAt = clock.wall
            target.failingSince = nil
            finish(target, isDelivered: true)
            if isNews { onReceiver(label, nil) }
        case .failure(let failure):
            counts.failed += 1
            target.attempts += 1
            target.error = failure.reason
            if target.attempts >= retries.failuresMax, target.failingSince == nil {
                target.failingSince = clock.wall
                log.write(
                    .fault,
                    "alert.undelivered",
                    "\(label) takes no alerts: \(failure.reason); it is tried again"
                )
                onReceiver(label, failure.reason)
            }
            if target.attempts >= retries.attemptsMax {
                target.unreported += 1
                counts.dropped += 1
                finish(target, isDelivered: false)
            }
        }
        advance(target)
    }

    private func finish(_ target: AlertTarget, isDelivered: Bool) {
        target.attempts = 0
        let message = target.queue.removeFirst()
        end(message.number, isDelivered: isDelivered)
    }

    /// A receiver is done with a message.
    private func end(_ number: UInt64, isDelivered: Bool) {
        guard let left = waiting[number] else { return }
        if isDelivered, delivered.insert(number).inserted { onEnd(number, true) }
        waiting[number] = left > 1 ? left - 1 : nil
        guard left == 1 else { return }
        if delivered.remove(number) == nil { onEnd(number, false) }
    }

    // MARK: Questions

    /// Sends a test message to each receiver at once, whatever waits for it.
    package nonisolated(nonsending) func test() async -> [AlertTest] {
        let delivery = AlertDelivery(message: .test(at: clock.wall), host: host)
        var tests: [AlertTest] = []
        // The receivers are asked at the same time.
        let attempts = targets.map { target in
            (target.label, attempt(delivery, target.receiver))
        }
        for (label, attempt) in attempts {
            switch await attempt.value {
            case .success(let answer): tests.append(AlertTest(label, true, answer))
            case .failure(let failure): tests.append(AlertTest(label, false, failure.reason))
            }
        }
        return tests
    }

    private func attempt(
        _ delivery: AlertDelivery,
        _ receiver: AlertReceiver
    ) -> Task<Result<String, AlertFailure>, Never> {
        Task { [transport, spawner, reference] in
            if case .notifications = receiver {
                return await withCheckedContinuation { continuation in
                    reference.perform { sender in
                        sender.post(delivery) { continuation.resume(returning: $0) }
                    }
                }
            }
            return await transport?.send(delivery, to: receiver, spawner: spawner)
                ?? .failure(AlertFailure("this bghost sends no alerts"))
        }
    }

    package var statuses: [AlertReceiverStatus] {
        targets.map { target in
            AlertReceiverStatus(
                name: target.label,
                deliveredAt: target.deliveredAt,
                failingSince: target.failingSince,
                error: target.error ?? "",
                waiting: target.queue.count
            )
        }
    }
}

/// Counts of messages, since the start of the daemon.
package struct AlertCounts: Equatable, Sendable {
    /// Taken by a receiver.
    package var sent: UInt64 = 0
    /// Attempts that failed.
    package var failed: UInt64 = 0
    /// Given up, or dropped from a full queue.
    package var dropped: UInt64 = 0

    package init() {}
}
