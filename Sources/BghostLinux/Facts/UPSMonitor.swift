// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts

/// A client of `upsd`, the server of Network UPS Tools, which reports the state of UPSes.
package struct UPSMonitor: Sendable {
    /// The server's address.
    package struct Address: Equatable, Sendable, CustomStringConvertible {
        var host: String
        var port: UInt16
        /// The supply that feeds this machine; `nil` for all supplies of the server.
        var supply: String?

        /// The default port of `upsd`.
        package static let usualPort: UInt16 = 3493

        package init(host: String, port: UInt16 = Self.usualPort, supply: String? = nil) {
            self.host = host
            self.port = port
            self.supply = supply
        }

        package var description: String {
            (supply.map { $0 + "@" } ?? "") + "\(host):\(port)"
        }
    }

    private let address: Address
    private let timeout: UInt64
    private static let suppliesMax = 8
    private static let linesMax = 64
    private static let bytesMax = 64 << 10
    /// The least remaining battery time, seconds, where the charge is unknown.
    private static let runtimeMin = 300.0

    /// - Parameter timeout: for all queries together.
    init(_ address: Address, timeout: Duration = .seconds(5)) {
        self.address = address
        self.timeout = timeout.clampedNanoseconds
    }

    /// Creates a source that queries every 30 s.
    static func source(_ address: Address) -> PolledSource {
        let monitor = UPSMonitor(address)
        return PolledSource(
            [.externalPower, .batteryNotLow],
            name: "\(address)",
            origin: .ups,
            take: { monitor.read() }
        )
    }

    /// Reads `externalPower` and `batteryNotLow`; of several supplies, the worst decides.
    ///
    /// It blocks at most until the timeout, plus the time of the name lookup.
    func read() -> [FactReading] {
        do throws(Failure) {
            let states = try ask()
            return [
                worst(states.map { ($0.power, $0.text) }, .externalPower),
                worst(states.map { ($0.charge, $0.text) }, .batteryNotLow),
            ]
        } catch {
            return [
                reading(.externalPower, .unknown, error.description),
                reading(.batteryNotLow, .unknown, error.description),
            ]
        }
    }

    private func reading(
        _ requirement: RequirementSet,
        _ measure: FactMeasure,
        _ text: String
    ) -> FactReading {
        FactReading(requirement, measure, text: text, source: "\(address)", origin: .ups)
    }

    private func worst(
        _ told: [(measure: FactMeasure, text: String)],
        _ requirement: RequirementSet
    ) -> FactReading {
        let order = told.sorted { Self.rank($0.measure) < Self.rank($1.measure) }
        guard let worst = order.first else {
            return reading(requirement, .unknown, "the server knows no supply")
        }
        return reading(requirement, worst.measure, worst.text)
    }

    private static func rank(_ measure: FactMeasure) -> Double {
        switch measure {
        case .state(false): -2
        case .unknown: -1
        case .charge(let percent): percent
        default: 1000
        }
    }

    // MARK: Queries

    private enum Failure: Error, CustomStringConvertible {
        case connection(LineSocket.Failure)
        /// The error word of the server, such as `DATA-STALE`.
        case refused(String)
        case nonsense

        var description: String {
            switch self {
            case .connection(let failure): failure.description
            case .refused(let word): "the server says \(word)"
            case .nonsense: "the server does not speak as upsd does"
            }
        }
    }

    private struct SupplyState {
        var power: FactMeasure
        var charge: FactMeasure
        var text: String
    }

    private func ask() throws(Failure) -> [SupplyState] {
        let socket: LineSocket
        do throws(LineSocket.Failure) {
            socket = try LineSocket(
                host: address.host,
                port: address.port,
                deadline: Monotonic.now + timeout,
                bytesMax: Self.bytesMax
            )
        } catch {
            throw .connection(error)
        }
        var states: [SupplyState] = []
        for name in try names(socket) { states.append(try state(of: name, socket)) }
        // If this fails nothing is lost: all answers have arrived.
        try? socket.send("LOGOUT")
        return states
    }

    /// Receives a line and splits it into words.
    private func words(_ socket: LineSocket) throws(Failure) -> [String] {
        let line: [UInt8]
        do throws(LineSocket.Failure) {
            line = try socket.line()
        } catch {
            throw .connection(error)
        }
        guard let words = Self.words(line), !words.isEmpty else { throw .nonsense }
        return words
    }

    private func names(_ socket: LineSocket) throws(Failure) -> [String] {
        if let supply = address.supply { return [supply] }
        let list = ["LIST", "UPS"]
        try send(list.joined(separator: " "), socket)
        let first = try words(socket)
        guard first != ["BEGIN"] + list else { return try listed(socket) }
        throw first[0] == "ERR" && first.count > 1 ? .refused(first[1]) : .nonsense
    }

    private func listed(_ socket: LineSocket) throws(Failure) -> [String] {
        var names: [String] = []
        for _ in 0..<Self.linesMax {
            let words = try words(socket)
            if words == ["END", "LIST", "UPS"] { return names }
            guard words.count >= 2, words[0] == "UPS" else { throw .nonsense }
            if names.count < Self.suppliesMax { names.append(words[1]) }
        }
        throw .nonsense
    }

    private func state(of name: String, _ socket: LineSocket) throws(Failure) -> SupplyState {
        // The name becomes part of a query and must not end it.
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isNamePart) else { throw .nonsense }
        let status = try value("ups.status", of: name, socket)
        let charge = try number("battery.charge", of: name, socket)
        let runtime = try number("battery.runtime", of: name, socket)
        var text = "\(name) ups.status=\(status ?? "unknown")"
        if let charge { text += " battery.charge=\(Int(charge))" }
        if let runtime { text += " battery.runtime=\(Int(runtime))" }
        let flags = Set((status ?? "").split(separator: " ").map(String.init))
        return SupplyState(
            power: Self.power(flags),
            charge: Self.charge(flags, percent: charge, runtime: runtime),
            text: text
        )
    }

    private func send(_ line: String, _ socket: LineSocket) throws(Failure) {
        do throws(LineSocket.Failure) {
            try socket.send(line)
        } catch {
            throw .connection(error)
        }
    }

    /// A variable's value; `nil` if the supply does not support it.
    private func value(
        _ variable: String,
        of name: String,
        _ socket: LineSocket
    ) throws(Failure) -> String? {
        try send("GET VAR \(name) \(variable)", socket)
        let words = try words(socket)
        if words.count == 4, words[..<3] == ["VAR", name, variable] { return words[3] }
        guard words.count >= 2, words[0] == "ERR" else { throw .nonsense }
        guard words[1] == "VAR-NOT-SUPPORTED" else { throw .refused(words[1]) }
        return nil
    }

    private func number(
        _ variable: String,
        of name: String,
        _ socket: LineSocket
    ) throws(Failure) -> Double? {
        try value(variable, of: name, socket).flatMap { Double($0) }
            .flatMap { (0...10_000_000).contains($0) ? $0 : nil }
    }
}

// MARK: - Interpreting the answers

extension UPSMonitor {
    private static func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
            UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// Checks "on battery" and "forced shutdown" before "on line": a supply reports both while it
    /// tests itself.
    private static func power(_ flags: Set<String>) -> FactMeasure {
        if !flags.isDisjoint(with: ["OB", "FSD"]) { return .state(false) }
        return flags.contains("OL") ? .state(true) : .unknown
    }

    private static func charge(
        _ flags: Set<String>,
        percent: Double?,
        runtime: Double?
    ) -> FactMeasure {
        if flags.contains("LB") { return .state(false) }
        if let percent { return .charge(percent: min(percent, 100)) }
        return runtime.map { .state($0 >= runtimeMin) } ?? .unknown
    }

    /// Splits a line into words; quoted words may contain spaces.
    ///
    /// Returns `nil` if a quote is not closed.
    static func words(_ line: [UInt8]) -> [String]? {
        var words: [String] = []
        var word: [UInt8]?
        var isQuoted = false
        var isEscaped = false
        for byte in line {
            if isEscaped {
                word = (word ?? []) + [byte]
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
                word = word ?? []
            } else if byte == UInt8(ascii: " "), !isQuoted {
                if let word { words.append(String(decoding: word, as: UTF8.self)) }
                word = nil
            } else {
                word = (word ?? []) + [byte]
            }
        }
        guard !isQuoted, !isEscaped else { return nil }
        if let word { words.append(String(decoding: word, as: UTF8.self)) }
        return words
    }
}
