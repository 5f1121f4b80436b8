// SPDX-License-Identifier: Apache-2.0

internal import BghostPlugin
internal import CBghostSystem
internal import Glibc

/// What the runtime of Go does to its process, which an author in Go cannot prevent.
///
/// The loader starts it: some threads, which never end, and handlers for five signals, which pass
/// signals outside of Go code on to the earlier handlers. A thread of the host that calls Go keeps a
/// stack for these handlers. The checks permit that, and only that, to a plugin that declares it.
enum GoRuntime {
    /// Whether the plugin has this runtime and says so in its note.
    static func isDeclared(_ stage: Stage) throws(Finding) -> Bool {
        try stage.image().hasGoRuntime
    }

    /// The signals that a library in Go takes over while it is loaded.
    private static let signals = [SIGBUS, SIGFPE, SIGPIPE, SIGSEGV, SIGURG]

    /// Gives the runtime's signals the handlers of an earlier picture, if the library itself handles
    /// them now.
    static func forgetHandlers(
        in picture: inout ProcessPicture,
        as earlier: ProcessPicture,
        of library: String
    ) {
        for number in signals {
            var handler: UInt64 = 0
            guard bgs_signal_handler(number, &handler) == 0,
                let address = UnsafeRawPointer(bitPattern: UInt(handler)),
                let file = bgs_library_of(address), String(cString: file) == library
            else { continue }
            let name = ProcessPicture.factOfHandler(number)
            picture.facts[name] = earlier.facts[name]
        }
    }

    /// Takes the thread's stack for signal handlers for that of an earlier picture, if there was none.
    ///
    /// From Go 1.21 on, the first call of Go from a thread gives it one, until the thread ends.
    static func forgetStack(in picture: inout ProcessPicture, as earlier: ProcessPicture) {
        let none = "0x0"
        guard earlier.facts[ProcessPicture.signalStack] == none else { return }
        picture.facts[ProcessPicture.signalStack] = none
    }

    private static let windowMilliseconds: UInt32 = 200
    private static let windowsMax = 10
    private static let wantedMillisecondsMax: UInt64 = 20

    /// How often a thread that is ready at the end of a window is looked at again.
    private static let looksMax = 100
    private static let lookMilliseconds: UInt32 = 20

    /// Throws if the plugin's threads work although no run is under way.
    ///
    /// Goroutines are no threads that could be counted, but they want processor time. On a busy machine
    /// they may not get it, and a thread that rests may once have to wait for it: so the time in which a
    /// thread waits for a processor counts, and one quiet window is enough.
    static func requireRest(_ when: String, fix: String) throws(Finding) {
        var least = UInt64.max
        for _ in 0..<windowsMax {
            let before = threadTimes()
            pause(milliseconds: windowMilliseconds)
            let end = threadTimes()
            var later = end
            for _ in 0..<looksMax where ThreadTime.hasWaiting(end, later) {
                pause(milliseconds: lookMilliseconds)
                later = threadTimes()
            }
            let wanted = ThreadTime.wanted(
                before,
                end,
                later,
                window: UInt64(windowMilliseconds) * 1_000_000
            )
            least = min(least, wanted / 1_000_000)
            if least <= wantedMillisecondsMax { return }
        }
        throw Finding.failed(
            "its goroutines work \(when): they want \(least) ms of processor time in"
                + " \(windowMilliseconds) ms",
            fix: fix
        )
    }

    private static func threadTimes() -> [Int32: ThreadTime] {
        var times: [Int32: ThreadTime] = [:]
        for thread in ProcessPicture.foreignThreads().keys {
            // A thread that has ended meanwhile has no such files.
            let text = SmallFile.text("/proc/self/task/\(thread)/schedstat") ?? ""
            let state = SmallFile.text("/proc/self/task/\(thread)/stat") ?? ""
            times[thread] = ThreadTime(
                nanoseconds: text.split(separator: " ").prefix(2).reduce(0) {
                    $0 + (UInt64($1) ?? 0)
                },
                // Behind the name, which may contain anything.
                isReady: state.split(separator: ")").last?.hasPrefix(" R") ?? false
            )
        }
        // A kernel without these files still counts the processor time of the process.
        return times.values.contains { $0.nanoseconds > 0 }
            ? times : [0: ThreadTime(nanoseconds: bgs_process_cpu_ns(), isReady: false)]
    }
}

/// For how long a thread has run or has waited for a processor.
struct ThreadTime: Equatable {
    var nanoseconds: UInt64
    /// Whether it runs, or waits for a processor.
    var isReady: Bool

    /// Whether a thread that was ready at the end of a window still waits for a processor.
    ///
    /// The kernel counts a wait once the thread has got a processor, so until then a thread that works looks as if
    /// it rested.
    static func hasWaiting(_ end: [Int32: ThreadTime], _ later: [Int32: ThreadTime]) -> Bool {
        end.contains { thread, time in time.isReady && later[thread] == time }
    }

    /// The processor time that threads want in a window, nanoseconds.
    ///
    /// - Parameters:
    ///   - later: the times once the threads that were ready at the end have got a processor.
    ///   - window: what a thread wants that has not got one.
    static func wanted(
        _ before: [Int32: ThreadTime],
        _ end: [Int32: ThreadTime],
        _ later: [Int32: ThreadTime],
        window: UInt64
    ) -> UInt64 {
        end.reduce(into: 0) { sum, entry in
            let (thread, time) = entry
            let start = before[thread]?.nanoseconds ?? 0
            guard time.isReady else {
                sum += time.nanoseconds - min(time.nanoseconds, start)
                return
            }
            let last = later[thread] ?? time
            sum += last == time ? window : last.nanoseconds - min(last.nanoseconds, start)
        }
    }
}
