// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import CBghost
import FoundationEssentials
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct SchedulerTests {
    struct Note: Codable { var title: String }

    @Test func `A date in the distant future is the last one that the host accepts`() async throws {
        let plugin = try TestPlugin {
            Handler("a") { _ in
                let request = BGAppRefreshTaskRequest(identifier: "r")
                request.earliestBeginDate = .distantFuture
                try BGTaskScheduler.shared.submit(request)
            }
        }
        #expect(try await plugin.end().status == BG_OK)
        let submitted = plugin.host.state.withLock { $0.submissions.map(\.earliest) }
        // The host counts nanoseconds in 64 bits.
        #expect(submitted == [Int64.max / 1_000_000])
    }

    @Test func `Requests reach the host with all their fields`() async throws {
        let plugin = try TestPlugin {
            Handler("a") { context in
                let refresh = BGAppRefreshTaskRequest(identifier: "r")
                refresh.earliestBeginDate = Date(timeIntervalSince1970: 1_700_000_000.25)
                try BGTaskScheduler.shared.submit(refresh)

                let processing = BGProcessingTaskRequest(identifier: "p")
                processing.requiresNetworkConnectivity = true
                processing.requiresExternalPower = true
                processing.requiresUnmeteredNetwork = true
                processing.parameters = Note(title: "x")
                processing.earliestBeginDate = .distantPast
                try await context.submit(processing)

                try await context.submit("n", parameters: ["a": "b"])
                try await context.submit("m")
            }
        }
        #expect(try await plugin.end().status == BG_OK)
        let expected = [
            ScriptedHost.Submission(
                kind: 1,
                identifier: "r",
                parameters: "",
                earliest: 1_700_000_000_250,
                needs: 0
            ),
            ScriptedHost.Submission(
                kind: 2,
                identifier: "p",
                parameters: #"{"title":"x"}"#,
                earliest: 0,
                needs: 7
            ),
            ScriptedHost.Submission(
                kind: 0,
                identifier: "n",
                parameters: #"{"a":"b"}"#,
                earliest: 0,
                needs: 0
            ),
            ScriptedHost.Submission(
                kind: 0,
                identifier: "m",
                parameters: "",
                earliest: 0,
                needs: 0
            ),
        ]
        #expect(plugin.host.state.withLock { $0.submissions } == expected)
    }

    @Test(
        arguments: [
            (BG_E_PERM, 3, "permissions.submit"), (BG_E_LIMIT, 2, "too many"),
            (BG_E_CLOSED, 1, "closed"), (BG_E_ARG, 1, "understand"), (-77, 1, "-77"),
        ] as [(bg_status, Int, String)]
    )
    func `A refused request throws Apple's error`(
        answer: bg_status,
        code: Int,
        reason: String
    ) async throws {
        let host = ScriptedHost()
        host.state.withLock { $0.answer = answer }
        let plugin = try TestPlugin(on: host) {
            Handler("a") { _ in
                do {
                    try BGTaskScheduler.shared.submit(BGAppRefreshTaskRequest(identifier: "x.y"))
                    return ["none"]
                } catch BGTaskScheduler.Error.notPermitted {
                    return ["3", "x.y: permissions.submit"]
                } catch let error as BGTaskScheduler.Error {
                    return ["\(error.errorCode)", error.description]
                }
            }
        }
        let payload = try await plugin.end().payload
        let found = try JSONDecoder().decode([String].self, from: Data(payload.utf8))
        #expect(found.first == "\(code)")
        #expect(found.last?.hasPrefix("x.y: ") == true)
        #expect(found.last?.contains(reason) == true)
    }

    @Test func `A request that is not permitted says how to permit it`() async throws {
        let host = ScriptedHost()
        host.state.withLock { $0.answer = BG_E_PERM }
        let plugin = try TestPlugin(on: host) { Handler("a") { try await $0.submit("x.y") } }
        let ending = try await plugin.end()
        #expect(ending.status == BG_E_FAILED)
        #expect(ending.message.hasPrefix("x.y: not permitted to this plugin"))
    }

    @Test func `A host without a scheduler is unavailable`() async throws {
        let plugin = try TestPlugin(on: ScriptedHost(extensions: [])) {
            Handler("a") { context in
                let pending = await BGTaskScheduler.shared.pendingTaskRequests()
                BGTaskScheduler.shared.cancelAllTaskRequests()
                guard pending.isEmpty else { return }
                try await context.submit("x")
            }
        }
        let ending = try await plugin.end()
        #expect(ending == Ending(status: BG_E_FAILED, message: "x: this host has no scheduler"))
        #expect(plugin.host.logs.map(\.level) == [3])
    }

    @Test func `Parameters that are no object are refused before the host sees them`() async throws
    {
        let plugin = try TestPlugin {
            Handler("a") { try await $0.submit("x", parameters: [1, 2]) }
        }
        let ending = try await plugin.end()
        #expect(ending.message == "x: its parameters must encode to a JSON object")
        #expect(plugin.host.state.withLock { $0.submissions }.isEmpty)
    }

    @Test func `Pending requests are listed, also many`() async throws {
        let host = ScriptedHost()
        host.state.withLock { state in
            state.pending = (0..<150).map { index in
                pending("com.example.\(index)", kind: UInt32(index % 3), earliest: Int64(index))
            }
        }
        let plugin = try TestPlugin(on: host) {
            Handler("a") { _ in
                await BGTaskScheduler.shared.pendingTaskRequests().map { request in
                    let date = request.earliestBeginDate.map {
                        "\(Int(($0.timeIntervalSince1970 * 1000).rounded()))"
                    }
                    return "\(type(of: request)) \(request.identifier) \(date ?? "-")"
                }
            }
        }
        let payload = try await plugin.end().payload
        let found = try JSONDecoder().decode([String].self, from: Data(payload.utf8))
        #expect(found.count == 150)
        #expect(found.first == "BGTaskRequest com.example.0 -")
        #expect(found[1] == "BGAppRefreshTaskRequest com.example.1 1")
        #expect(found[149] == "BGProcessingTaskRequest com.example.149 149")
    }

    @Test func `A pending processing request lists its requirements`() async throws {
        let host = ScriptedHost()
        host.state.withLock { state in
            var both = pending("p", kind: 2, earliest: 0)
            both.needs = 3
            var network = pending("q", kind: 2, earliest: 0)
            network.needs = 1
            var unmetered = pending("r", kind: 2, earliest: 0)
            unmetered.needs = 4
            state.pending = [both, network, unmetered]
        }
        let plugin = try TestPlugin(on: host) {
            Handler("a") { _ in
                await BGTaskScheduler.shared.pendingTaskRequests().map { request in
                    let request = request as? BGProcessingTaskRequest
                    return [
                        request?.requiresNetworkConnectivity, request?.requiresExternalPower,
                        request?.requiresUnmeteredNetwork,
                    ]
                }
            }
        }
        #expect(
            try await plugin.end().payload
                == "[[true,true,false],[true,false,false],[false,false,true]]"
        )
    }

    @Test func `A request of another kind than its task's says so`() async throws {
        let host = ScriptedHost()
        host.state.withLock { $0.answer = BG_E_KIND }
        let plugin = try TestPlugin(on: host) {
            Handler("a") { _ in
                try BGTaskScheduler.shared.submit(BGProcessingTaskRequest(identifier: "r"))
            }
        }
        let message = try await plugin.end().message
        #expect(message.contains("the task has another kind in tasks.json"))
    }

    @Test func `Cancelling asks the host, and what is wrong is logged`() async throws {
        let host = ScriptedHost()
        let plugin = try TestPlugin(on: host) {
            Handler("a") { _ in
                BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: "x")
                host.state.withLock { $0.answer = BG_E_ABSENT }
                BGTaskScheduler.shared.cancel(taskRequestWithIdentifier: "y")
                host.state.withLock { $0.answer = BG_E_PERM }
                BGTaskScheduler.shared.cancelAllTaskRequests()
            }
        }
        #expect(try await plugin.end().status == BG_OK)
        #expect(host.state.withLock { $0.cancelled } == ["x", "y", "*"])
        #expect(host.logs.count == 1)
        #expect(host.logs.first?.message.hasPrefix("cannot cancel all requests: not") == true)
    }

    private func pending(_ identifier: String, kind: UInt32, earliest: Int64) -> bg_pending {
        var pending = bg_pending()
        pending.size = UInt32(MemoryLayout<bg_pending>.size)
        pending.kind = kind
        pending.earliest_unix_ms = earliest
        withUnsafeMutableBytes(of: &pending.task_id) { $0.copyBytes(from: identifier.utf8) }
        return pending
    }
}
