// SPDX-License-Identifier: Apache-2.0

internal import BghostFacts
internal import Glibc

/// The kernel's power supplies, as files below `/sys/class/power_supply`.
struct PowerSupplies: Sendable {
    private let root: String

    /// The folder's path on every Linux.
    static let usualRoot = "/sys/class/power_supply"
    /// The most supplies that are read.
    private static let suppliesMax = 64

    init(root: String = Self.usualRoot) {
        self.root = root
    }

    /// Creates the source that reads the supplies.
    ///
    /// - Parameter signal: reports the kernel's changes; without it the supplies are read every 30
    ///   s.
    static func source(root: String = usualRoot, signal: Uevents?) -> PolledSource {
        let supplies = PowerSupplies(root: root)
        return PolledSource(
            [.externalPower, .batteryNotLow],
            name: root,
            interval: signal == nil
                ? PolledSource.usualInterval : PolledSource.signalledInterval,
            signal: signal,
            take: { supplies.read() }
        )
    }

    /// The files of one supply.
    private struct Supply {
        let folder: String
        let name: String
        let type: String

        func file(_ file: String) -> String? { PowerSupplies.line(folder + "/" + file) }

        var isLine: Bool { type == "Mains" || type == "Wireless" || type.hasPrefix("USB") }
    }

    /// Reads `externalPower` and `batteryNotLow`.
    ///
    /// It may block for as long as a battery's firmware takes.
    func read() -> [FactReading] {
        switch supplies() {
        case .failure(let error):
            [RequirementSet.externalPower, .batteryNotLow].map {
                FactReading($0, .unknown, text: error.description, source: root)
            }
        case .success(let supplies): [power(supplies), charge(supplies)]
        }
    }

    private func supplies() -> Result<[Supply], SystemError> {
        guard let directory = opendir(root) else {
            let code = errno
            // If the kernel has no such class, the folder is missing among other classes. If a
            // sandbox shows no classes at all, nothing is known.
            let parent = root.split(separator: "/").dropLast().map { "/" + $0 }.joined()
            guard code == ENOENT, access(parent, X_OK) == 0 else {
                return .failure(SystemError("read", root, code: code))
            }
            return .success([])
        }
        defer { closedir(directory) }
        var found: [Supply] = []
        while let entry = readdir(directory), found.count < Self.suppliesMax {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            let folder = root + "/" + name
            guard !name.hasPrefix("."), let type = Self.line(folder + "/type"),
                // The battery of a device such as a mouse is not the machine's.
                Self.line(folder + "/scope") != "Device"
            else { continue }
            found.append(Supply(folder: folder, name: name, type: type))
        }
        return .success(found.sorted { $0.name < $1.name })
    }

    private func power(_ supplies: [Supply]) -> FactReading {
        func reading(_ measure: FactMeasure, _ text: String, _ source: String) -> FactReading {
            FactReading(.externalPower, measure, text: text, source: source)
        }
        // Check a UPS before the mains: while a UPS feeds the machine, the mains appear to be
        // present.
        let ups = supplies.filter { $0.type == "UPS" }
        if let off = ups.first(where: { $0.file("status") == "Discharging" }) {
            return reading(.state(false), "\(off.name) status=Discharging", off.folder + "/status")
        }
        let lines = supplies.filter(\.isLine).map { supply in
            (supply: supply, online: supply.file("online").flatMap { Int($0) })
        }
        // The value 2 means a charger with a programmable voltage.
        if let on = lines.first(where: { ($0.online ?? 0) > 0 }) {
            return reading(
                .state(true),
                "\(on.supply.name) online=\(on.online ?? 1)",
                on.supply.folder + "/online"
            )
        }
        if let off = lines.first(where: { $0.online != nil }) {
            return reading(
                .state(false),
                "\(off.supply.name) online=0",
                off.supply.folder + "/online"
            )
        }
        // No line supply reports its state, but the state of the batteries may show it.
        let cells = ups + supplies.filter { $0.type == "Battery" }
        let states = cells.map { ($0, $0.file("status") ?? "Unknown") }
        if let (cell, _) = states.first(where: { $0.1 == "Discharging" }) {
            return reading(
                .state(false),
                "\(cell.name) status=Discharging",
                cell.folder + "/status"
            )
        }
        let fed = ["Charging", "Full", "Not charging"]
        if let (cell, state) = states.first(where: { fed.contains($0.1) }) {
            return reading(.state(true), "\(cell.name) status=\(state)", cell.folder + "/status")
        }
        if let first = lines.first?.supply ?? cells.first {
            return reading(.unknown, "\(first.name) says nothing", first.folder)
        }
        return reading(.state(true), "no power supply", root)
    }

    private func charge(_ supplies: [Supply]) -> FactReading {
        func reading(_ measure: FactMeasure, _ text: String, _ source: String) -> FactReading {
            FactReading(.batteryNotLow, measure, text: text, source: source)
        }
        let batteries = supplies.filter { supply in
            (supply.type == "Battery" || supply.type == "UPS") && supply.file("present") != "0"
        }
        guard let first = batteries.first else { return reading(.state(true), "no battery", root) }
        let charges = batteries.compactMap { battery in
            battery.file("capacity").flatMap { Double($0) }.flatMap { percent in
                // Worn batteries report slightly more than 100 %.
                (0...200).contains(percent) ? min(percent, 100) : nil
            }
        }
        // Average all batteries: the machine runs until the last one is empty.
        if !charges.isEmpty {
            let percent = charges.reduce(0, +) / Double(charges.count)
            return reading(
                .charge(percent: percent),
                "capacity=\(Int(percent))",
                first.folder + "/capacity"
            )
        }
        let level = first.file("capacity_level") ?? "Unknown"
        let measure: FactMeasure =
            switch level {
            case "Critical", "Low": .state(false)
            case "Normal", "High", "Full": .state(true)
            default: .unknown
            }
        return reading(measure, "capacity_level=\(level)", first.folder + "/capacity_level")
    }

    /// The only line of a small file, without its line break.
    private static func line(_ path: String) -> String? {
        guard case .success(let bytes) = SmallFile.read(path, bytesMax: 256) else { return nil }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
        return String(decoding: line, as: UTF8.self)
    }
}
