// SPDX-License-Identifier: Apache-2.0

import BackgroundTasks
import BackgroundTasksTesting
import FoundationEssentials
import SwiftUI
import Synchronization
import Testing
import UserNotifications

/// Names that source for iOS uses beside the tasks themselves.
@Suite(.timeLimit(.minutes(5)))
struct AppNameTests {
    @Test func `A background task keeps its run under way until it is ended`() async throws {
        let plugin = Plugin(id: "org.example.app", version: "1") {
            Handler("a") { context in
                let work = UIApplication.shared.beginBackgroundTask(withName: "upload")
                #expect(work != .invalid && UIApplication.shared.backgroundTimeRemaining <= 25)
                Task {
                    try await context.sleep(for: .seconds(5))
                    context.log(.info, "done")
                    UIApplication.shared.endBackgroundTask(work)
                    UIApplication.shared.endBackgroundTask(work)
                }
            }
        }
        let host = try TestHost(plugin)
        try await host.launch("a")
        #expect(host.runs.map(\.outcome) == [nil])
        try await host.advance(by: .seconds(6))
        #expect(host.runs.map(\.outcome) == [.succeeded])
        #expect(host.logs.map(\.message) == ["done"])
        #expect(UIApplication.shared.beginBackgroundTask() == .invalid)
    }

    @Test func `Cancelling the run calls the expiration handler`() async throws {
        let plugin = Plugin(id: "org.example.app", version: "1") {
            Handler("told") { context in
                var work = UIBackgroundTaskIdentifier.invalid
                work = UIApplication.shared.beginBackgroundTask {
                    context.log(.info, "expired")
                    UIApplication.shared.endBackgroundTask(work)
                }
                try? await context.sleep(for: .seconds(3600))
            }
            Handler("untold") { context in
                _ = UIApplication.shared.beginBackgroundTask()
                try? await context.sleep(for: .seconds(3600))
            }
        }
        let host = try TestHost(plugin)
        #expect(try await host.launchAndExpire("told").outcome == .succeeded)
        #expect(host.logs.map(\.message) == ["expired"])
        #expect(try await host.launchAndExpire("untold").outcome == .succeeded)
    }

    @Test func `A background task that was ended, or is begun too late, does not expire`()
        async throws
    {
        let plugin = Plugin(id: "org.example.app", version: "1") {
            Handler("ended") { context in
                let work = UIApplication.shared.beginBackgroundTask {
                    context.log(.info, "expired")
                }
                UIApplication.shared.endBackgroundTask(work)
                try? await context.sleep(for: .seconds(3600))
            }
            Handler("late") { context in
                try? await context.sleep(for: .seconds(3600))
                let work = UIApplication.shared.beginBackgroundTask {
                    context.log(.info, "expired")
                }
                context.log(.info, "invalid: \(work == .invalid)")
            }
        }
        let host = try TestHost(plugin)
        #expect(try await host.launchAndExpire("ended").outcome == .succeeded)
        #expect(host.logs.isEmpty)
        #expect(try await host.launchAndExpire("late").outcome == .succeeded)
        #expect(host.logs.map(\.message) == ["invalid: true"])
    }

    private final class Delegate: UIResponder, UIApplicationDelegate,
        UNUserNotificationCenterDelegate
    {
        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
        ) -> Bool {
            UNUserNotificationCenter.current().delegate = self
            return BGTaskScheduler.shared.register(forTaskWithIdentifier: "of.delegate") { task in
                task.setTaskCompleted(success: true)
            }
        }

        func applicationDidEnterBackground(_ application: UIApplication) {
            Logger().info("left, \(application.applicationState)")
        }

        func userNotificationCenter(
            _ center: UNUserNotificationCenter,
            willPresent notification: UNNotification
        ) async -> UNNotificationPresentationOptions { [.banner, .list, .sound, .badge] }
    }

    private struct AdaptedApp: App {
        @UIApplicationDelegateAdaptor(Delegate.self) var delegate

        var body: some Scene {
            WindowGroup {}.backgroundTask(.appRefresh("of.scene")) {
                let center = UNUserNotificationCenter.current()
                let isGranted = try await center.requestAuthorization(
                    options: [.alert, .provisional, .timeSensitive]
                )
                let status = await center.notificationSettings().authorizationStatus
                Logger().info("\(isGranted) \(status == .authorized)")
            }
        }
    }

    @Test
    func `The app delegate registers handlers and learns of the background`()
        async throws
    {
        let plugin = Plugin(id: "org.example.adapted", version: "1", app: AdaptedApp.self)
        let host = try TestHost(plugin)
        #expect(try await host.launch("of.delegate").outcome == .succeeded)
        #expect(try await host.launch("launch").outcome == .succeeded)
        #expect(try await host.launch("of.scene").outcome == .succeeded)
        #expect(host.logs.map(\.message) == ["left, background", "true true"])
    }

    private struct ScenesApp: App {
        init() {
            BGTaskScheduler.shared.register(forTaskWithIdentifier: "com.example.both") { _ in }
        }

        var body: some Scene {
            WindowGroup {}.backgroundTask(.appRefresh("com.example.both")) {}
        }
    }

    @Test func `Two handlers of one identifier are refused by name`() throws {
        let listed = Plugin(id: "org.example.twice", version: "1") {
            Handler("com.example.both") { _ in }
            Handler("com.example.both") { _ in }
        }
        let registered = Plugin(id: "org.example.twice", version: "1", app: ScenesApp.self)
        for plugin in [listed, registered] {
            let error = #expect(throws: TestHostError.self) { try TestHost(plugin) }
            #expect(error?.description.contains("two handlers named \"com.example.both\"") == true)
        }
    }

    @Test func `Work is done at its time, on the clock of the run`() async throws {
        let plugin = Plugin(id: "org.example.app", version: "1") {
            Handler("a") { context in
                let queue = DispatchQueue(label: "work", qos: .utility, attributes: .concurrent)
                let start = context.now
                await withCheckedContinuation { continuation in
                    DispatchQueue.global(qos: .background).async {
                        queue.asyncAfter(deadline: .now() + .seconds(5)) { continuation.resume() }
                    }
                }
                return Int((context.now.timeIntervalSince(start)).rounded())
            }
        }
        let host = try TestHost(plugin)
        try await host.launch("a")
        try await host.advance(by: .seconds(6))
        #expect(host.runs.map(\.result) == ["5"])
    }

    @Test func `The scheduler's codes have Apple's numbers`() {
        #expect(BGTaskScheduler.Error.Code.immediateRunIneligible.rawValue == 4)
        #expect(BGTaskScheduler.Error.errorDomain == "BGTaskSchedulerErrorDomain")
    }
}
