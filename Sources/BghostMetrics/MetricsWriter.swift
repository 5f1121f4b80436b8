// SPDX-License-Identifier: Apache-2.0

/// Writes metrics as text, in one of the two formats that Prometheus reads.
struct MetricsWriter {
    /// A kind of metric.
    enum Kind: String {
        case counter
        case gauge
        case histogram
        /// One series for each possible state: 1 for the current one, 0 for the others.
        case stateset
        /// A constant 1 with labels.
        case info
    }

    /// A label and its value; the value may be any text.
    typealias Label = (name: String, value: String)

    private let format: MetricsFormat
    private(set) var text = ""
    /// The name of the family to which the next samples belong.
    private var family = ""
    private var kind = Kind.gauge

    init(_ format: MetricsFormat) { self.format = format }

    // MARK: Families

    /// Begins a family.
    ///
    /// - Parameters:
    ///   - name: without `_total` or `_info`.
    ///   - unit: the unit, with which the name must end; "" if it has none.
    ///   - help: one sentence without a line break.
    mutating func begin(_ name: String, _ kind: Kind, unit: String = "", _ help: String) {
        family = name
        self.kind = kind
        // The older format has neither of the two kinds, and it names a family as its samples.
        let shown =
            switch (format, kind) {
            case (.prometheus, .counter): name + "_total"
            case (.prometheus, .info): name + "_info"
            default: name
            }
        let type = format == .prometheus && (kind == .stateset || kind == .info) ? .gauge : kind
        text += "# TYPE \(shown) \(type.rawValue)\n"
        if format == .openMetrics, !unit.isEmpty { text += "# UNIT \(shown) \(unit)\n" }
        text += "# HELP \(shown) \(help)\n"
    }

    /// Ends the text.
    mutating func end() {
        if format == .openMetrics { text += "# EOF\n" }
    }

    // MARK: Samples

    /// A sample without labels.
    mutating func sample(_ value: some BinaryInteger) { sample([], value) }

    mutating func sample(_ labels: [Label], _ value: some BinaryInteger) {
        line(suffix, labels, String(value))
    }

    /// A sample in seconds without labels.
    mutating func seconds(_ nanoseconds: some FixedWidthInteger) { seconds([], nanoseconds) }

    /// - Parameter nanoseconds: the value, which is written in seconds.
    mutating func seconds(_ labels: [Label], _ nanoseconds: some FixedWidthInteger) {
        line(suffix, labels, Self.secondsText(nanoseconds))
    }

    mutating func histogram(_ labels: [Label], _ histogram: DurationHistogram) {
        var total: UInt64 = 0
        for (bound, count) in zip(DurationHistogram.bounds, histogram.counts) {
            total += count
            // Both formats compare bounds as numbers; the newer one wants a point in them.
            let text = Self.secondsText(bound)
            let bound = text.contains(".") ? text : text + ".0"
            line("_bucket", labels + [("le", bound)], String(total))
        }
        line("_bucket", labels + [("le", "+Inf")], String(histogram.count))
        line("_count", labels, String(histogram.count))
        line("_sum", labels, Self.secondsText(histogram.sum))
    }

    /// Writes a series for each state.
    mutating func states<State: RawRepresentable<String> & CaseIterable & Equatable>(
        _ labels: [Label],
        _ current: State
    ) {
        for state in State.allCases {
            line("", labels + [(family, state.rawValue)], state == current ? "1" : "0")
        }
    }

    private var suffix: String {
        switch kind {
        case .counter: "_total"
        case .info: "_info"
        case .gauge, .histogram, .stateset: ""
        }
    }

    private mutating func line(_ suffix: String, _ labels: [Label], _ value: String) {
        text += family
        text += suffix
        if !labels.isEmpty {
            text += "{"
            for (index, label) in labels.enumerated() {
                if index > 0 { text += "," }
                text += label.name
                text += "=\""
                Self.escape(label.value, into: &text)
                text += "\""
            }
            text += "}"
        }
        text += " "
        text += value
        text += "\n"
    }

    // MARK: Values

    /// Escapes what would end a label's value; the rest of a name that an author chose is harmless.
    static func escape(_ value: String, into text: inout String) {
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }

    /// Exact seconds, without the rounding of floating point: `1.5`, `0.000001`, `-3`.
    static func secondsText(_ nanoseconds: some FixedWidthInteger) -> String {
        let (whole, rest) = nanoseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000_000)
        var text = (nanoseconds < 0 ? "-" : "") + String(whole)
        guard rest > 0 else { return text }
        var digits = String(rest)
        digits = String(repeating: "0", count: 9 - digits.count) + digits
        while digits.last == "0" { digits.removeLast() }
        text += "." + digits
        return text
    }
}
