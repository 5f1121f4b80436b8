// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import Hummingbird
internal import Synchronization

/// The routes that tell whether the daemon works, for operators and for probes of other programs.
///
/// They answer also if the daemon's main thread hangs.
struct HealthRoutes: Sendable {
    let host: any HostControl
    /// How long the main thread may take to answer.
    let answerTime: Duration
    /// How long the disk may take to answer.
    var diskTime: Duration = .seconds(10)

    func add(to endpoints: EndpointRouter) {
        endpoints.on(.alive) { _, _ in await alive() }
        endpoints.on(.ready) { _, _ in await ready() }
        endpoints.on(.health) { _, _ in await health() }
    }

    private func alive() async -> Response {
        guard await readiness() != nil else {
            return Answer.fault(
                ControlFault(
                    .unavailable,
                    hanging,
                    fix: "restart the daemon if it does not recover"
                )
            )
        }
        return Answer.json(Schema.alive, API.Alive(alive: true))
    }

    private func ready() async -> Response {
        let report =
            await readiness() ?? ReadinessReport(reasons: [.init("unresponsive", hanging)])
        return Answer.json(
            Schema.readiness,
            status: report.ready ? .ok : .serviceUnavailable,
            report
        )
    }

    private func health() async -> Response {
        guard await readiness() != nil else {
            let check = HealthReport.Check(
                "reactor",
                .critical,
                hanging,
                remedy: "restart the daemon if it does not recover"
            )
            return Answer.json(Schema.health, HealthReport(checks: [check]))
        }
        let report = await Self.value(within: diskTime) { [host] in await host.health() }
        return Answer.json(
            Schema.health,
            report
                ?? HealthReport(checks: [
                    .init("reactor", .ok, "the daemon's main thread answers"),
                    .init(
                        "disk",
                        .critical,
                        "the disk of the manifest or of the state directory did not answer within"
                            + " \(diskTime)",
                        remedy: "look at the disk; the kernel's log may say more"
                    ),
                ])
        )
    }

    private var hanging: String {
        "the daemon's main thread did not answer within \(answerTime)"
    }

    private func readiness() async -> ReadinessReport? {
        await Self.value(within: answerTime) { [host] in await host.readiness() }
    }

    /// The value of a function; `nil` if it takes longer.
    ///
    /// The function then goes on, since a thread that hangs cannot be interrupted.
    private static func value<Value: Sendable>(
        within limit: Duration,
        _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        await withCheckedContinuation { continuation in
            let answer = FirstAnswer(continuation)
            let timer = Task {
                // A cancelled timer has nothing to say any more.
                try? await Task.sleep(for: limit)
                answer.give(nil)
            }
            // The task is not awaited; whichever ends first answers.
            Task {
                answer.give(await body())
                timer.cancel()
            }
        }
    }
}

/// A continuation that is resumed by the first of several answers.
private final class FirstAnswer<Value: Sendable>: Sendable {
    private let continuation: Mutex<CheckedContinuation<Value?, Never>?>

    init(_ continuation: CheckedContinuation<Value?, Never>) {
        self.continuation = Mutex(continuation)
    }

    func give(_ value: Value?) {
        let continuation = continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
        continuation?.resume(returning: value)
    }
}
