// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostLinux
internal import Glibc

/// The time that passes for a process, without the time in which its threads wait for a processor.
///
/// On a busy machine a thread of the plugin, or of the checker, may wait for longer than a check allows. That
/// is no fault of the plugin, so the kernel's account of these waits (`schedstat`) is left out. A kernel that
/// keeps none gives the plain time.
struct ServedTime {
    /// A plugin whose threads always want more than the machine has must still end: at least one part of so
    /// many counts of the time that passes.
    static let partsMax: UInt64 = 5

    private let folder: String
    private let start = Monotonic.now
    private let before: [String: UInt64]

    /// Begins now, for this process.
    init() {
        folder = "/proc/self/task"
        before = Self.waits(folder)
    }

    /// Begins now, for a process that was started just now.
    init(ofNew process: Int32) {
        folder = "/proc/\(process)/task"
        before = [:]
    }

    /// The nanoseconds that are left of a limit: for so long, it cannot be over.
    func rest(of limit: UInt64) -> UInt64 {
        let passed = Monotonic.now.since(start)
        // Nothing counts twice, so the account need not be read before.
        guard passed >= limit else { return limit - passed }
        let waited = Self.waits(folder).reduce(into: UInt64(0)) { sum, thread in
            sum += thread.value - min(thread.value, before[thread.key] ?? 0)
        }
        return limit - min(limit, Self.counted(passed, waited: waited))
    }

    /// What counts of a time in which threads have waited for so long in total, all in nanoseconds.
    static func counted(_ passed: UInt64, waited: UInt64) -> UInt64 {
        max(passed / partsMax, passed - min(passed, waited))
    }

    /// The nanoseconds for which a thread of this process has been on a processor; `nil` if it has ended.
    static func served(thread: UInt64) -> UInt64? {
        numbers("/proc/self/task/\(thread)/schedstat")?.first
    }

    /// Whether a thread of this process neither runs nor waits for a processor.
    static func isAsleep(thread: UInt64) -> Bool {
        // The state follows the name, which may have any characters.
        guard let text = SmallFile.text("/proc/self/task/\(thread)/stat"),
            let name = text.lastIndex(of: ")")
        else { return true }
        return text[name...].split(separator: " ").dropFirst().first != "R"
    }

    /// The nanoseconds for which the calling thread has waited for a processor since it began.
    static var waitOfThread: UInt64 { wait("/proc/thread-self/schedstat") ?? 0 }

    /// The nanoseconds for which each thread has waited for a processor since it began.
    private static func waits(_ folder: String) -> [String: UInt64] {
        var found: [String: UInt64] = [:]
        guard let threads = opendir(folder) else { return found }
        defer { closedir(threads) }
        while let entry = readdir(threads) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard !name.hasPrefix(".") else { continue }
            found[name] = wait("\(folder)/\(name)/schedstat")
        }
        return found
    }

    /// The second number of the file: the first one is the time on a processor.
    private static func wait(_ path: String) -> UInt64? {
        guard let numbers = numbers(path), numbers.count > 1 else { return nil }
        return numbers[1]
    }

    /// `nil` for a thread that has ended.
    private static func numbers(_ path: String) -> [UInt64]? {
        SmallFile.text(path)?.split(whereSeparator: \.isWhitespace).compactMap { UInt64($0) }
    }
}
