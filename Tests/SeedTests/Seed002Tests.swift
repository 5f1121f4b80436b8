// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import Seed002App
import Seed002Download
import Seed002Legacy
import Seed002Optional
import Seed002Requests
import Synchronization
import Testing

/// "SwiftUIアプリでバックグラウンドタスクの実行", an article on the same.
@Suite(.timeLimit(.minutes(5)))
struct Seed002Tests {
    private static let refresh = "com.test.test.appRefreshTest"

    @Test func `Requests are made, listed and withdrawn`() async throws {
        let host = try TestHost(
            seed002Requests,
            now: Date.now.formatted(.iso8601),
            patience: patience
        )
        #expect(try await host.launch("status").result == "true")
        try await host.launch("schedule")
        let request = try #require(host.pending.first)
        #expect(request.identifier == Self.refresh)
        // Ten seconds of the machine's clock, which goes on while the host's stands still.
        let date = try #require(request.earliestBeginDate)
        #expect(date >= host.now + 9 && milliseconds(date) <= milliseconds(.now + 10))
        #expect(try await host.launch("list").result == #"["\#(Self.refresh)"]"#)
        try await host.launch("print")
        try await host.launch("cancel")
        #expect(host.pending.isEmpty)

        try await host.launch("schedule")
        try await host.launch("cancelAll")
        #expect(host.pending.isEmpty)

        // Once it runs, it is no longer in the list.
        try await host.launch("schedule")
        let next = try #require(host.pending.first?.earliestBeginDate)
        try await host.advance(to: next + 1)
        #expect(host.pending.isEmpty)
        #expect(host.runs.last?.identifier == Self.refresh)
    }

    @Test func `The app makes both requests of its refresh`() async throws {
        let host = try TestHost(seed002App, patience: patience)
        let run = try await host.launch(Self.refresh)
        #expect(run.outcome == .succeeded)
        let calls = Seed002App.calls.all
        #expect(calls == ["scheduleTestNotification", "startRequestingRemoteData"])
    }

    @Test func `The optional modifier and a registered handler exist`()
        async throws
    {
        let host = try TestHost(seed002Optional, patience: patience)
        #expect(try await host.launch(Self.refresh).outcome == .succeeded)
        #expect(try await host.launch("com.test.test.registered").outcome == .succeeded)
        #expect(Seed002Optional.calls.all == ["available", "registered"])
    }

    @Test func `A downloaded file reaches the helper's delegate in a wake`() async throws {
        let host = try TestHost(seed002Download, patience: patience)
        // The second time the helper is there already, as in a worker that is used again.
        for round in 1...2 {
            let run = try await host.launch(Self.refresh)
            // The run does not wait for the download.
            #expect(run.outcome == .succeeded)
            #expect(host.notifications.map(\.identifier) == ["test"])
            let transfer = try #require(host.transfers.first)
            #expect(transfer.session == "com.test.test.fetchRemoteData")
            #expect(transfer.request.url.absoluteString == "https://qiita.com")

            let page = Data("Swift \(round)".utf8)
            try await host.answer(transfer, with: FetchResponse(status: 200, body: page))
            let wake = try #require(host.runs.last)
            #expect(wake.identifier == "urlSession.com.test.test.fetchRemoteData")
            #expect(wake.outcome == .succeeded)
            #expect(printed.withLock { $0.last } == "Swift \(round)")
            #expect(printed.withLock { $0.count } == round)
            #expect(host.transfers.isEmpty)
        }
    }

    @Test func `Older source receives its wake in the app delegate`() async throws {
        let host = try TestHost(seed002Legacy, patience: patience)
        try await host.launch("begin")
        try await host.answer(
            try #require(host.transfers.first),
            with: FetchResponse(status: 200)
        )
        #expect(host.runs.map(\.handler) == ["begin", "urlSession"])
        #expect(host.runs.last?.outcome == .succeeded)
        #expect(Seed002Legacy.calls.all == ["woken by legacy"])
    }
}

/// As a request keeps its date.
private func milliseconds(_ date: Date) -> Int64 {
    Int64((date.timeIntervalSince1970 * 1000).rounded())
}
