// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
import FoundationEssentials
import SwiftUI
import UserNotifications

/// Looks at noon whether a thunderstorm comes, and suggests a photo of the sky if one does.
let plugin = Plugin(
    id: "org.bghost.sample.weather-check",
    version: "2.0.0",
    vendor: "bghost samples",
    app: StormyApp.self
)

/// Where the host comes in.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }

struct StormyApp: App {
    static let noon = "com.example.stormy.noon"

    init() {
        let center = UNUserNotificationCenter.current()
        center.setNotificationCategories([PhotoSuggestion.category])
        center.delegate = PhotoSuggestion.taps
    }

    var body: some Scene {
        WindowGroup {}
            .backgroundTask(.appRefresh(Self.noon)) {
                // First, so that whatever becomes of this run, there is one tomorrow.
                try scheduleNoon()
                try await suggestPhotoIfStormy()
            }
            // The forecast came when the run that asked for it was over: here, the same request is
            // answered with it.
            .backgroundTask(.urlSession(Forecast.session)) { try await suggestPhotoIfStormy() }
    }
}

/// Asks for a run at noon tomorrow, which is UTC's.
func scheduleNoon() throws {
    let today = Calendar.current.startOfDay(for: TaskContext.current?.now ?? .now)
    let request = BGAppRefreshTaskRequest(identifier: StormyApp.noon)
    request.earliestBeginDate = Calendar.current.date(
        byAdding: DateComponents(day: 1, hour: 12),
        to: today
    )
    try BGTaskScheduler.shared.submit(request)
}

func suggestPhotoIfStormy() async throws {
    let settings: Settings? = try TaskContext.current?.configuration()
    guard let settings, let storm = try await nextStorm(settings) else { return }
    Logger().info("a storm is coming at \(storm.hour)")
    let suggestion = PhotoSuggestion.request(storm, settings)
    try await UNUserNotificationCenter.current().add(suggestion)
}

/// Asks Open-Meteo, and MET Norway if that fails.
func nextStorm(_ settings: Settings) async throws -> Storm? {
    do {
        let storm = try await Forecast.current(settings).firstStorm(of: settings.stormCodes)
        if storm == nil { Logger().info("no storm in the next hours") }
        return storm
    } catch URLError.cancelled {
        // The run's time is over, and the request goes on: its answer wakes the app.
        return nil
    } catch {
        Logger().warning("Open-Meteo has no forecast: \(error)")
        if let fallback = settings.fallback { return try await fallback.nextStorm(settings) }
        // A wake that fails is told of the same failure again; there is another noon.
        guard TaskContext.current?.wakeSession != nil else { throw error }
        return nil
    }
}

/// A thunderstorm that is forecast.
struct Storm {
    /// When its hour begins.
    var start: Date
    /// Whose word it is, as their licences want it said.
    var attribution: String

    /// For people.
    var hour: String { start.formatted(.iso8601) }
}
