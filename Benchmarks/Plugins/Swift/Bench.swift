// SPDX-License-Identifier: Apache-2.0

public import BackgroundTasks
internal import Glibc

/// Handlers of the Swift SDK that do as little as can be.
let plugin = Plugin(id: "org.bghost.bench.swift", version: "1.0.0", vendor: "bghost bench") {
    Handler("nop") { _ -> Void in }
    Handler("stamp") { _ -> Int64 in monotonicNow() }
    Handler("stamp-and-fail") { _ -> Void in throw Stamp(time: monotonicNow()) }
    Handler("ignore") { context -> Void in
        context.progress(1, of: 0, "holding")
        try await Task.sleep(for: .seconds(3600))
    }
}

/// When a handler was reached, as a failure: the next run gets a new worker.
struct Stamp: Error, CustomStringConvertible {
    let time: Int64
    var description: String { String(time) }
}

func monotonicNow() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Where the host comes in.
@c(bghost_plugin_v1)
public func entry(_ host: HostTable?) -> PluginTable? { plugin.table(for: host) }
