// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import Dispatch
internal import FoundationEssentials
internal import SwiftUI

/// Counts in defaults, and says what it finds.
let defaults = Plugin(id: "org.example.defaults", version: "1.0.0", app: CountingApp.self)

private struct CountingApp: App {
    struct Times: Codable { var times: Int }

    init() {
        UserDefaults.standard.register(defaults: ["step": 1])
        // Before the first run: the worker knows the data directory.
        let launches = UserDefaults.standard.integer(forKey: "launches")
        UserDefaults.standard.set(launches + 1, forKey: "launches")
    }

    var body: some Scene {
        WindowGroup {}
            .backgroundTask(.appRefresh("count")) {
                let times = try TaskContext.current?.parameters(as: Times.self).times
                for _ in 0..<(times ?? 1) {
                    // Of keys of their own: a sum would be no more whole on iOS.
                    UserDefaults.standard.set(Date.now, forKey: "\(UUID())")
                }
            }
            .backgroundTask(.appRefresh("tell")) {
                let dates = UserDefaults.standard.dictionaryRepresentation().values
                    .count { $0 is Date }
                let launches = UserDefaults.standard.integer(forKey: "launches")
                let step = UserDefaults.standard.integer(forKey: "step")
                Logger().info("dates \(dates), launched \(launches > 0), step \(step)")
            }
    }
}

/// Two handlers of one name, listed.
let twice = Plugin(id: "org.example.twice", version: "1.0.0") {
    Handler("com.example.twice") { _ in }
    Handler("com.example.twice") { _ in }
}

/// Two handlers of one name, registered as on iOS.
let registered = Plugin(id: "org.example.registered", version: "1.0.0", app: TwiceApp.self)

private struct TwiceApp: App {
    init() {
        for _ in 1...2 {
            BGTaskScheduler.shared.register(forTaskWithIdentifier: "com.example.twice") { task in
                task.setTaskCompleted(success: true)
            }
        }
    }

    var body: some Scene { WindowGroup {} }
}

/// A launch handler on Dispatch's main queue, as a file has it that imports Dispatch or full Foundation.
let mainQueue = Plugin(id: "org.example.main", version: "1.0.0", app: MainQueueApp.self)

private struct MainQueueApp: App {
    init() {
        let main = Dispatch.DispatchQueue.main
        BGTaskScheduler.shared.register(forTaskWithIdentifier: "com.example.main", using: main) {
            dispatchPrecondition(condition: .onQueue(main))
            $0.setTaskCompleted(success: true)
        }
    }

    var body: some Scene { WindowGroup {} }
}
