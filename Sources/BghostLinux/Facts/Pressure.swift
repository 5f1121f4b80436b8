// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostFacts
internal import CBghostSystem
internal import Glibc

/// The pressure on processor and disk from the kernel's `/proc/pressure`, or where that is missing
/// the load average per processor.
///
/// With triggers the kernel reports as soon as the machine is no longer idle, so that it need not
/// be read often. Where triggers are refused, it is read every 30 s.
package final class Pressure: FactSource {
    package let requirements: RequirementSet = .idle
    package private(set) var deadline: MonotonicInstant = .never
    private let root: String
    private let loadFile: String
    private let processors: Int
    private let hasTriggers: Bool
    private var context: FactSourceContext?
    private var triggers: [UInt64: Int32] = [:]

    /// One second of stall within ten: the 10 % below which the machine counts as idle.
    ///
    /// The kernel then fires at most once in ten seconds. It grants unprivileged processes only
    /// windows that are multiples of two seconds.
    private static let trigger = "some 1000000 10000000"
    private static let interval: UInt64 = 30_000_000_000

    /// - Parameters:
    ///   - root: the folder of the pressure files.
    ///   - loadFile: the file with the load average.
    ///   - processors: the number of processors; `nil` for the number that the system reports.
    ///   - hasTriggers: whether to set triggers, which only the kernel's own files support.
    init(
        root: String = "/proc/pressure",
        loadFile: String = "/proc/loadavg",
        processors: Int? = nil,
        hasTriggers: Bool = true
    ) {
        self.root = root
        self.loadFile = loadFile
        self.processors = max(1, processors ?? Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
        self.hasTriggers = hasTriggers
    }

    deinit { for fd in triggers.values { close(fd) } }

    package func start(_ context: FactSourceContext, now: MonotonicInstant) {
        self.context = context
        for file in hasTriggers ? ["cpu", "io"] : [] {
            let fd = bgs_pressure_trigger("\(root)/\(file)", Self.trigger)
            guard fd >= 0 else { continue }
            // Without a trigger the source still reads the pressure at intervals.
            if let token = try? context.watch(fd, for: .priority) {
                triggers[token] = fd
            } else {
                close(fd)
            }
        }
        poll(now: now)
    }

    package func poll(now: MonotonicInstant) {
        deadline = now + Self.interval
        context?.report(reading())
    }

    package func ready(_ token: UInt64, _ readiness: Readiness, now: MonotonicInstant) {
        // The trigger's cgroup was removed, and the descriptor would stay ready for ever.
        if readiness.contains(.error), let fd = triggers.removeValue(forKey: token) {
            context?.unwatch(token)
            close(fd)
        }
        poll(now: now)
    }

    package func received(_ message: FactMessage, now: MonotonicInstant) {}

    package func stop() {
        for (token, fd) in triggers {
            context?.unwatch(token)
            close(fd)
        }
        triggers = [:]
        context = nil
        deadline = .never
    }

    /// Reads the current values.
    func reading() -> FactReading {
        if let cpu = Self.share(in: readFile(root + "/cpu", bytesMax: 512)),
            let io = Self.share(in: readFile(root + "/io", bytesMax: 512))
        {
            return FactReading(
                .idle,
                .pressure(cpu: cpu, io: io),
                text: "cpu=\(cpu)% io=\(io)%",
                source: root
            )
        }
        guard let load = Self.load(in: readFile(loadFile, bytesMax: 256)) else {
            return FactReading(
                .idle,
                .unknown,
                text: "neither pressure nor load can be read",
                source: root
            )
        }
        return FactReading(
            .idle,
            .load(perProcessor: load / Double(processors)),
            text: "load=\(load) processors=\(processors)",
            source: loadFile
        )
    }

    /// The percentage of the last ten seconds in which some process waited.
    package static func share(in bytes: [UInt8]?) -> Double? {
        let lines = (bytes ?? []).split(separator: UInt8(ascii: "\n"))
        guard let line = lines.first(where: { $0.starts(with: "some ".utf8) }) else { return nil }
        for field in line.split(separator: UInt8(ascii: " "))
        where field.starts(with: "avg10=".utf8) {
            return number(field.dropFirst(6)).flatMap { $0 <= 100 ? $0 : nil }
        }
        return nil
    }

    /// The load average of the last minute.
    package static func load(in bytes: [UInt8]?) -> Double? {
        let end = UInt8(ascii: " ")
        guard let bytes, bytes.contains(end) else { return nil }
        return number(bytes.prefix { $0 != end })
    }

    /// Parses digits with at most one dot; Swift's parser would accept more.
    private static func number(_ bytes: some Collection<UInt8>) -> Double? {
        let isPlain = bytes.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
        return isPlain ? Double(String(decoding: bytes, as: UTF8.self)) : nil
    }
}
