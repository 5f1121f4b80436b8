// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import SwiftUI
import Testing
import UserNotifications

/// Notifications under Apple's names.
///
/// Serialized: categories and the delegate belong to the process.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct NotificationTests {
    private static func request(
        _ identifier: String,
        _ trigger: UNNotificationTrigger? = nil,
        _ change: (UNMutableNotificationContent) -> Void = { _ in }
    ) -> UNNotificationRequest {
        let content = UNMutableNotificationContent()
        content.title = "title of \(identifier)"
        change(content)
        return UNNotificationRequest(identifier: identifier, content: content, trigger: trigger)
    }

    private func host(
        _ body: @escaping @Sendable (TaskContext) async throws -> [String]
    ) throws -> TestHost {
        try TestHost(
            Plugin(id: "org.example.tell", version: "1") { Handler("a", body) },
            now: "2026-11-21T09:00:00Z"
        )
    }

    @Test func `Each trigger sets the delivery time`() async throws {
        let host = try host { _ in
            let center = UNUserNotificationCenter.current()
            try await center.add(Self.request("now"))
            let soon = UNTimeIntervalNotificationTrigger(timeInterval: 90, repeats: false)
            try await center.add(Self.request("soon", soon))
            let often = UNTimeIntervalNotificationTrigger(timeInterval: 120, repeats: true)
            try await center.add(Self.request("often", often))
            for (name, parts) in [
                ("daily", DateComponents(hour: 12)),
                ("weekly", DateComponents(hour: 8, minute: 30, weekday: 1)),
                ("monthly", DateComponents(day: 3)),
            ] {
                let trigger = UNCalendarNotificationTrigger(dateMatching: parts, repeats: true)
                try await center.add(Self.request(name, trigger))
            }
            return await center.pendingNotificationRequests().map(\.identifier)
        }
        let run = try await host.launch("a")
        #expect(run.message == "")
        #expect(
            try run.result(as: [String].self) == ["soon", "often", "daily", "weekly", "monthly"]
        )
        let posted = host.notifications
        #expect(posted.prefix(3).map { $0.date.timeIntervalSince(host.now) } == [0, 90, 120])
        #expect(posted.map(\.interval)[2] == .seconds(120))
        #expect(
            posted.suffix(3).map(\.calendar) == ["0 12 * * *", "30 8 * * 0", "0 0 3 * *"]
        )
    }

    @Test func `A pending calendar notification keeps its trigger, also when it is added again`()
        async throws
    {
        let host = try host { _ in
            let center = UNUserNotificationCenter.current()
            let trigger = UNCalendarNotificationTrigger(
                dateMatching: DateComponents(hour: 8, minute: 30, weekday: 1),
                repeats: true
            )
            try await center.add(Self.request("weekly", trigger))
            let listed = try #require(await center.pendingNotificationRequests().first)
            let found = try #require(listed.trigger as? UNCalendarNotificationTrigger)
            #expect(found.repeats)
            let parts = found.dateComponents
            #expect(parts.hour == 8 && parts.minute == 30 && parts.weekday == 1)
            #expect(parts.day == nil && parts.month == nil)
            try await center.add(Self.request("weekly", found) { $0.body = "changed" })
            return []
        }
        try await host.launch("a")
        #expect(host.notifications.map(\.calendar) == ["30 8 * * 0"])
        #expect(host.notifications.map(\.body) == ["changed"])
    }

    @Test func `What no calendar says is refused, and the machine's zone is none of its own`()
        async throws
    {
        let host = try host { _ in
            let center = UNUserNotificationCenter.current()
            var found: [String] = []
            for parts in [
                DateComponents(day: 13, hour: 9, weekday: 6), DateComponents(second: 30),
                DateComponents(weekday: 2, weekdayOrdinal: 1),
                DateComponents(timeZone: TimeZone(secondsFromGMT: 5400), hour: 9),
            ] {
                let trigger = UNCalendarNotificationTrigger(dateMatching: parts, repeats: true)
                do {
                    try await center.add(Self.request("odd", trigger))
                    found.append("taken")
                } catch let error as UNError {
                    found.append("\(error.code.rawValue)")
                }
            }
            let parts = DateComponents(timeZone: TimeZone(secondsFromGMT: -5 * 3600), hour: 9)
            let trigger = UNCalendarNotificationTrigger(dateMatching: parts, repeats: true)
            try await center.add(Self.request("west", trigger))
            // The calendar of the machine is a distance from UTC, which is another one in the other half of a year.
            let summer = DateComponents(year: 2027, month: 7, day: 1, hour: 9)
            var own = summer
            own.calendar = Calendar.current
            let dates = [summer, own].map { parts in
                UNCalendarNotificationTrigger(dateMatching: parts, repeats: false)
                    .nextTriggerDate()
            }
            #expect(dates[0] != nil && dates[0] == dates[1])
            return found
        }
        let run = try await host.launch("a")
        #expect(run.message == "")
        #expect(try run.result(as: [String].self) == ["1400", "1400", "1400", "1400"])
        #expect(host.notifications.map(\.identifier) == ["west"])
    }

    @Test func `A userInfo that JSON cannot hold is refused`() async throws {
        let host = try host { _ in
            let center = UNUserNotificationCenter.current()
            var found: [String] = []
            for value in [Date(), Data([1]), Double.infinity, ["a": [Date()]], [1: 2]] as [Any] {
                do {
                    try await center.add(Self.request("odd") { $0.userInfo = ["value": value] })
                    found.append("taken")
                } catch let error as UNError {
                    found.append("\(error.code.rawValue)")
                }
            }
            return found
        }
        let run = try await host.launch("a")
        #expect(try run.result(as: [String].self) == Array(repeating: "1501", count: 5))
    }

    @Test func `A pending notification can be withdrawn`() async throws {
        let host = try host { _ in
            let center = UNUserNotificationCenter.current()
            let later = UNTimeIntervalNotificationTrigger(timeInterval: 90, repeats: false)
            for name in ["a", "b", "c"] { try await center.add(Self.request(name, later)) }
            center.removePendingNotificationRequests(withIdentifiers: ["b", "unknown"])
            let rest = await center.pendingNotificationRequests().map(\.content.title)
            center.removeAllPendingNotificationRequests()
            return rest
        }
        let run = try await host.launch("a")
        #expect(try run.result(as: [String].self) == ["title of a", "title of c"])
        #expect(host.notifications.isEmpty)
    }

    @Test func `A refused notification throws Apple's error`() async throws {
        let host = try host { _ in
            let center = UNUserNotificationCenter.current()
            var found: [String] = []
            let often = UNTimeIntervalNotificationTrigger(timeInterval: 5, repeats: true)
            for request in [
                Self.request("", nil), Self.request("often", often),
                Self.request("long") { $0.body = String(repeating: "x", count: 5000) },
            ] {
                do {
                    try await center.add(request)
                    found.append("taken")
                } catch let error as UNError {
                    found.append("\(error.code.rawValue)")
                }
            }
            return found
        }
        let run = try await host.launch("a")
        #expect(try run.result(as: [String].self) == ["1501", "1400", "1501"])
        #expect(host.notifications.isEmpty)
    }

    @Test func `The answer to a notification reaches the delegate of its plugin`() async throws {
        let events = Events()
        let delegate = Center(events)
        let plugin = AskingApp.$delegate.withValue(delegate) {
            Plugin(id: "org.example.tell", version: "1", app: AskingApp.self)
        }
        // Another plugin of the same process has a center of its own.
        let other = Center(Events())
        AskingApp.$delegate.withValue(other) {
            _ = Plugin(id: "org.example.other", version: "1", app: OtherApp.self)
        }
        let host = try TestHost(plugin)
        try await host.launch("ask")
        #expect(host.notifications.first?.actions == #"[{"id":"yes","title":"Take it"}]"#)
        #expect(host.notifications.first?.userInfo == #"{"count":3,"storm":true}"#)
        #expect(try await host.act("yes", on: "photo").outcome == .succeeded)
        #expect(try await host.act("yes", on: "photo", text: "now").outcome == .succeeded)
        #expect(try await host.act("default", on: "photo").outcome == .succeeded)
        let opened = "\(UNNotificationDefaultActionIdentifier) photo 3 -"
        #expect(events.all == ["yes photo 3 -", "yes photo 3 now", opened])
        await #expect(throws: TestHostError.self) { try await host.act("yes", on: "unknown") }
        withExtendedLifetime((delegate, other)) {}
    }

    private struct OtherApp: App {
        init() {
            UNUserNotificationCenter.current().delegate = AskingApp.delegate
            UNUserNotificationCenter.current().setNotificationCategories([])
        }

        var body: some Scene { WindowGroup {} }
    }

    private struct AskingApp: App {
        @TaskLocal static var delegate: Center?

        init() {
            UNUserNotificationCenter.current().delegate = Self.delegate
            let yes = UNNotificationAction(identifier: "yes", title: "Take it")
            UNUserNotificationCenter.current().setNotificationCategories([
                UNNotificationCategory(identifier: "storm", actions: [yes])
            ])
        }

        var body: some Scene {
            WindowGroup {}
                .backgroundTask(.appRefresh("ask")) {
                    try await UNUserNotificationCenter.current().add(
                        NotificationTests.request("photo") { content in
                            content.categoryIdentifier = "storm"
                            content.userInfo = ["storm": true, "count": 3]
                        }
                    )
                }
        }
    }

    private final class Center: NSObject, UNUserNotificationCenterDelegate,
        @unchecked Sendable
    {
        // @unchecked: nothing of it changes.
        private let events: Events

        init(_ events: Events) { self.events = events }

        func userNotificationCenter(
            _ center: UNUserNotificationCenter,
            didReceive response: UNNotificationResponse,
            withCompletionHandler completionHandler: @escaping () -> Void
        ) {
            let request = response.notification.request
            let count = request.content.userInfo["count"] as? Int ?? 0
            let text = (response as? UNTextInputNotificationResponse)?.userText ?? "-"
            #expect(request.content.categoryIdentifier == "storm")
            #expect(request.content.title == "title of photo")
            events.note("\(response.actionIdentifier) \(request.identifier) \(count) \(text)")
            completionHandler()
        }
    }
}
