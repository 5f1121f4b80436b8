// SPDX-License-Identifier: Apache-2.0

/// Writes metrics as text, in one of the two formats that Prometheus reads.
struct MetricsWriter {
    private let format: MetricsFormat
    private(set) var text = ""
    /// The family to which the next samples belong.
    private var metric = Metric.slots

    init(_ format: MetricsFormat) { self.format = format }

    // MARK: Families

    /// Begins a family.
    mutating func begin(_ metric: Metric) {
        self.metric = metric
        // The older format has neither of the two kinds, and it names a family as its samples.
        let shown =
            switch (format, metric.kind) {
            case (.prometheus, .counter): metric.name + "_total"
            case (.prometheus, .info): metric.name + "_info"
            default: metric.name
            }
        let hasKind = metric.kind != .stateset && metric.kind != .info
        let type = format == .openMetrics || hasKind ? metric.kind : .gauge
        text += "# TYPE \(shown) \(type.rawValue)\n"
        if format == .openMetrics, !metric.unit.isEmpty {
            text += "# UNIT \(shown) \(metric.unit)\n"
        }
        text += "# HELP \(shown) \(metric.help)\n"
    }

    /// Ends the text.
    mutating func end() {
        if format == .openMetrics { text += "# EOF\n" }
    }

    // MARK: Samples

    /// A sample without labels.
    mutating func sample(_ value: some BinaryInteger) { sample([], value) }

    /// - Parameter labels: the values of the metric's labels, in their order; each may be any text.
    mutating func sample(_ labels: [String], _ value: some BinaryInteger) {
        line(suffix, labels, String(value))
    }

    /// A sample in seconds without labels.
    mutating func seconds(_ nanoseconds: some FixedWidthInteger) { seconds([], nanoseconds) }

    /// - Parameter nanoseconds: the value, which is written in seconds.
    mutating func seconds(_ labels: [String], _ nanoseconds: some FixedWidthInteger) {
        line(suffix, labels, Self.secondsText(nanoseconds))
    }

    mutating func histogram(_ labels: [String], _ histogram: DurationHistogram) {
        var total: UInt64 = 0
        for (bound, count) in zip(DurationHistogram.bounds, histogram.counts) {
            total += count
            // Both formats compare bounds as numbers; the newer one wants a point in them.
            let text = Self.secondsText(bound)
            let bound = text.contains(".") ? text : text + ".0"
            line("_bucket", labels + [bound], String(total))
        }
        line("_bucket", labels + ["+Inf"], String(histogram.count))
        line("_count", labels, String(histogram.count))
        line("_sum", labels, Self.secondsText(histogram.sum))
    }

    /// Writes a series for each state.
    mutating func states<State: RawRepresentable<String> & CaseIterable & Equatable>(
        _ labels: [String],
        _ current: State
    ) {
        for state in State.allCases {
            line("", labels + [state.rawValue], state == current ? "1" : "0")
        }
    }

    private var suffix: String {
        switch metric.kind {
        case .counter: "_total"
        case .info: "_info"
        case .gauge, .histogram, .stateset: ""
        }
    }

    private mutating func line(_ suffix: String, _ labels: [String], _ value: String) {
        text += metric.name
        text += suffix
        if !labels.isEmpty {
            text += "{"
            for (index, value) in labels.enumerated() {
                if index > 0 { text += "," }
                text += labelName(index)
                text += "=\""
                Self.escape(value, into: &text)
                text += "\""
            }
            text += "}"
        }
        text += " "
        text += value
        text += "\n"
    }

    /// The labels of the metric, and then that of a histogram's bounds or of a state.
    private func labelName(_ index: Int) -> String {
        guard index >= metric.labels.count else { return metric.labels[index].name }
        return metric.kind == .histogram ? "le" : metric.name
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
