// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import Seed003Phase
import Seed003Refresh
import Seed003Session
import Testing

/// "Background tasks in SwiftUI", an article on the same.
@Suite(.timeLimit(.minutes(5)))
struct Seed003Tests {
    private static let refresh = "myapprefresh"

    @Test func `Leaving the app schedules the refresh`() async throws {
        let host = try TestHost(
            seed003Phase,
            tasks: """
                {"version": 1,
                 "plugins": {
                    "app": {"library": "libApp.so", "permissions": {"submit": ["myapprefresh"]}},
                    "other": {"library": "libOther.so"}},
                 "tasks": {
                    "start": {"plugin": "app", "handler": "launch"},
                    "myapprefresh": {"plugin": "other", "handler": "refresh"}}}
                """,
            as: "app",
            patience: patience
        )
        #expect(try await host.launch("start").outcome == .succeeded)
        #expect(host.pending.map(\.identifier) == [Self.refresh])
        #expect(host.pending.first?.earliestBeginDate == nil)
    }

    @Test func `The app decodes the products and notifies the user`() async throws {
        let host = try TestHost(seed003Refresh, patience: patience)
        try await host.launch(Self.refresh)
        let products = Data(#"[{"name":"a"},{"name":"b"}]"#.utf8)
        try await host.answer(
            try #require(host.fetches.first),
            with: FetchResponse(status: 200, body: products)
        )
        #expect(host.runs.map(\.outcome) == [.succeeded])
        #expect(Seed003Refresh.calls.all == ["a,b"])

        // Asked to stop, it returns without a word.
        let run = try await host.launchAndExpire(Self.refresh)
        #expect(run.outcome == .succeeded)
        #expect(run.stopReason == .expired)
        #expect(Seed003Refresh.calls.all == ["a,b"])
    }

    @Test func `A download outlives the run that began it`() async throws {
        let host = try TestHost(seed003Session, patience: patience)
        let run = try await host.launchAndExpire(Self.refresh)
        #expect(run.outcome == .succeeded)
        #expect(host.transfers.map(\.session) == ["myurlsession"])
        #expect(Seed003Session.calls.all.isEmpty)

        try await host.answer(
            try #require(host.transfers.first),
            with: FetchResponse(status: 200)
        )
        #expect(host.runs.map(\.handler) == [Self.refresh, "urlSession.myurlsession"])
        #expect(host.runs.last?.outcome == .succeeded)
        // The listing's closure for the wake is empty, so the end waits for the session, as on iOS.
        #expect(host.transfers.map(\.waitsForSession) == [true])

        // In time, the user is notified by the run itself.
        host.respond { _ in FetchResponse(status: 200) }
        try await host.launch(Self.refresh)
        #expect(Seed003Session.calls.all == ["notifyUser"])
        #expect(host.runs.count == 3)
    }
}
