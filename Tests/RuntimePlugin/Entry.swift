// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks

let plugin = Plugin(id: "test.runtime", version: "1.2.3") {
    Handler("print") { (context, parameters: Printing) in
        for number in 0..<parameters.lines { print("line \(number + 1)") }
        if let last = parameters.last { print(last, terminator: "") }
    }
    Handler("main-actor") { _ in try await onMainActor() }
    Handler("main-queue") { _ in try await onMainQueue() }
    Handler("main-thread-is-free") { _ in blockUntilMainHasRun() }
    Handler("main-until-cancelled") { _ in try await waitOnMainActor() }
    Handler("identity") { context in Identity(context) }
    Handler("trace") { context in Trace(context) }
    Handler("submit") { (context, parameters: Submission) in
        try await context.submit(parameters.task)
    }
    Handler("fatal") { _ in fatalError("the cake is a lie") }
    Handler("stuck") { _ in stayForGood() }
    Handler("throw") { _ in throw CakeError.lie }
}

enum CakeError: Error { case lie }

struct Printing: Codable, Sendable {
    var lines: Int
    var last: String?
}

struct Submission: Codable, Sendable {
    var task: String
}

struct Identity: Encodable, Sendable {
    var run: String
    var key: String
    var epoch: UInt64
    var attempt: Int

    init(_ context: TaskContext) {
        run = context.identity?.runID ?? ""
        key = context.identity?.idempotencyKey ?? ""
        epoch = context.identity?.epoch ?? 0
        attempt = context.attempt
    }
}

struct Trace: Encodable, Sendable {
    var parent: String?
    var state: String?
    var trace: String?
    var span: String?
    var isSampled: Bool?

    init(_ context: TaskContext) {
        guard let given = context.trace else { return }
        (parent, state) = (given.traceparent, given.tracestate)
        (trace, span, isSampled) = (given.traceID, given.spanID, given.isSampled)
    }
}

/// The plugin for a host.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }
