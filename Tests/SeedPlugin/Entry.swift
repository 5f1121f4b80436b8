// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
internal import Seed001Background
internal import Seed001Launch
internal import Seed001Notify
internal import Seed001Refresh
internal import Seed001Schedule
internal import Seed001Shared
internal import Seed001Stormy
internal import Seed002App
internal import Seed002Download
internal import Seed002Legacy
internal import Seed002Optional
internal import Seed002Requests
internal import Seed003Phase
internal import Seed003Refresh
internal import Seed003Session
internal import Seed004Refresh
internal import Seed004Training

/// Which of the apps this library is: a mark, and the name that a test writes behind it in a copy.
///
/// One library for each would be linked, and lie there, seventeen times.
@section("seed_choice") @used
nonisolated(unsafe) private var choice: (UInt64, UInt64, UInt64, UInt64) = (
    0x6465_6573_2D68_6762, 0, 0, 0
)

private var chosen: String {
    withUnsafeBytes(of: &choice) { bytes in
        String(decoding: bytes.dropFirst(8).prefix { $0 != 0 }, as: UTF8.self)
    }
}

private let plugin: Plugin =
    switch chosen {
    case "Seed001Background": seed001Background
    case "Seed001Launch": seed001Launch
    case "Seed001Notify": seed001Notify
    case "Seed001Refresh": seed001Refresh
    case "Seed001Schedule": schedule
    case "Seed001Shared": seed001Shared
    case "Seed001Stormy": seed001Stormy
    case "Seed002App": seed002App
    case "Seed002Download": seed002Download
    case "Seed002Legacy": seed002Legacy
    case "Seed002Optional": seed002Optional
    case "Seed002Requests": seed002Requests
    case "Seed003Phase": seed003Phase
    case "Seed003Refresh": seed003Refresh
    case "Seed003Session": seed003Session
    case "Seed004Refresh": seed004Refresh
    case "Seed004Training": seed004Training
    case "Defaults": defaults
    case "Twice": twice
    case "Registered": registered
    case "MainQueue": mainQueue
    case "Waiting": waiting
    case "Launching": launching
    case "Cancelling": cancelling
    default: fatalError("no app is called \"\(chosen)\"")
    }

/// The listing defines a function and no handler that calls it.
private let schedule = Plugin(id: "org.example.schedule", version: "1.0.0") {
    Handler("start") { _ in Seed001Schedule.schedule() }
    Handler("StormyNoon") { _ in }
}

/// The app of a listing, as a library that a daemon loads.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }
