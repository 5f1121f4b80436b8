// SPDX-License-Identifier: Apache-2.0

import BackgroundFoundation
import BackgroundTasks
import BackgroundTasksTesting
import Seed001Background
import Seed001Launch
import Seed001Notify
import Seed001Refresh
import Seed001Schedule
import Seed001Shared
import Seed001Stormy
import Testing

/// "Efficiency awaits: Background tasks in SwiftUI", notes of the talk.
@Suite(.timeLimit(.minutes(5)))
struct Seed001Tests {
    private static let noon = "StormyNoon"
    private static let storm = FetchResponse(status: 200, body: Data("storm at four".utf8))

    @Test func `Listing 1 requests a run at noon tomorrow`() async throws {
        let plugin = Plugin(id: "org.example.stormy", version: "1") {
            Handler("start") { _ in Seed001Schedule.schedule() }
            Handler(Self.noon) { _ in }
        }
        let before = Date.now
        let host = try TestHost(plugin, now: before.formatted(.iso8601), patience: patience)
        try await host.launch("start")
        let date = try #require(
            host.pending.first { $0.identifier == Self.noon }?.earliestBeginDate
        )
        // Midnight may have passed meanwhile.
        let tomorrows = [before, .now].compactMap {
            Calendar.current.date(byAdding: .day, value: 1, to: $0)
        }
        #expect(tomorrows.contains { Calendar.current.isDate(date, inSameDayAs: $0) })
        #expect(Calendar.current.component(.hour, from: date) == 12)
        #expect(Calendar.current.component(.minute, from: date) == 0)
        // And an app without handlers of its own is a plugin.
        _ = try TestHost(seed001Schedule, patience: patience)
    }

    @Test func `Listing 2 schedules, downloads the weather and notifies`() async throws {
        let host = try TestHost(seed001Refresh, patience: patience)
        let run = try await host.launch(Self.noon)
        #expect(run.outcome == .succeeded)
        let calls = Seed001Refresh.calls.all
        #expect(calls == ["scheduleAppRefresh", "isStormy", "notifyForPhoto"])
    }

    @Test func `Listing 3 adds a notification`() async throws {
        let host = try TestHost(seed001Notify, patience: patience)
        let run = try await host.launch(Self.noon)
        #expect(run.outcome == .succeeded)
        #expect(host.notifications.map(\.identifier) == ["photo"])
        #expect(host.notifications.first?.title == "A storm is coming")
    }

    @Test func `Listing 4 downloads with the shared session`() async throws {
        let host = try TestHost(seed001Shared, patience: patience)
        try await host.launch(Self.noon)
        let fetch = try #require(host.fetches.first)
        #expect(fetch.request.url.absoluteString == "https://weather.example/now")
        #expect(fetch.request.method == "GET")
        try await host.answer(fetch, with: Self.storm)
        #expect(host.runs.map(\.outcome) == [.succeeded])
        #expect(Seed001Shared.calls.all == ["notifyForPhoto"])

        try await host.launch(Self.noon)
        try await host.answer(try #require(host.fetches.first), with: FetchResponse(status: 200))
        #expect(Seed001Shared.calls.all == ["notifyForPhoto"])
    }

    @Test func `Listing 5 downloads with a background session`() async throws {
        let host = try TestHost(seed001Background, patience: patience)
        try await host.launch(Self.noon)
        let transfer = try #require(host.transfers.first)
        #expect(transfer.session == "isStormy")
        #expect(transfer.isAwaited)
        #expect(host.fetches.isEmpty)
        try await host.answer(transfer, with: Self.storm)
        #expect(Seed001Background.calls.all == ["storm"])
        // The run awaits the end, so there is no wake.
        #expect(host.runs.count == 1)
        #expect(host.transfers.isEmpty)
    }

    @Test func `Listings 6 and 7: the request outlives its run, and wakes the app`() async throws {
        let host = try TestHost(
            seed001Stormy,
            now: Date.now.formatted(.iso8601),
            patience: patience
        )
        try await host.launch(Self.noon)
        // The first line comes before the request.
        #expect(host.pending.map(\.identifier) == [Self.noon])
        #expect(host.transfers.map(\.isAwaited) == [true])

        // 25 s are the run's.
        try await host.advance(by: .seconds(26))
        let expired = try #require(host.runs.first)
        #expect(expired.outcome == .succeeded)
        #expect(expired.stopReason == .expired)
        #expect(host.notifications.isEmpty)
        #expect(host.transfers.count == 1)
        let transfer = try #require(host.transfers.first)
        #expect(!transfer.isAwaited)

        try await host.answer(transfer, with: Self.storm)
        #expect(host.runs.map(\.identifier) == [Self.noon, "urlSession.isStormy"])
        #expect(host.runs.last?.outcome == .succeeded)
        // The same call found what had ended: nothing was asked for a second time.
        #expect(host.transfers.isEmpty)
        #expect(host.fetches.isEmpty)
        #expect(host.notifications.map(\.identifier) == ["photo"])
    }

    @Test func `Listing 6 needs no wake if the response arrives in time`() async throws {
        let host = try TestHost(
            seed001Stormy,
            now: Date.now.formatted(.iso8601),
            patience: patience
        )
        host.respond { _ in Self.storm }
        try await host.launch(Self.noon)
        #expect(host.runs.map(\.outcome) == [.succeeded])
        #expect(host.notifications.map(\.identifier) == ["photo"])
        try await host.advance(by: .seconds(60))
        #expect(host.runs.count == 1)
    }

    @Test func `Listing 7 has a handler for the session, unchanged`() async throws {
        let host = try TestHost(seed001Launch, patience: patience)
        let run = try await host.launch("urlSession.isStormy")
        #expect(run.handler == "urlSession.isStormy")
        #expect(run.outcome == .succeeded)
    }
}

/// How long a handler may take: what waits for a processor on a busy machine waits for nothing else.
let patience = Duration.seconds(240)
