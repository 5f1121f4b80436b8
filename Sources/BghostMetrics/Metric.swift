// SPDX-License-Identifier: Apache-2.0

/// A metric of the daemon: its name, what it means, and how many series it can have.
///
/// ``all`` is the one list of them: `/metrics`, the page of the documents, the dashboard for Grafana and the
/// alert rules are made of it or checked against it.
package struct Metric: Equatable, Sendable {
    /// A kind of metric.
    package enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
        /// One series for each possible state: 1 for the current one, 0 for the others.
        case stateset
        /// A constant 1 with labels.
        case info
    }

    /// A label with the number of its values.
    package struct Label: Equatable, Sendable {
        package let name: String
        /// The most values that one daemon gives it.
        package let valuesMax: Int
        /// The values, if the program fixes them.
        package let values: [String]?

        init(_ name: String, most valuesMax: Int) {
            self.name = name
            self.valuesMax = valuesMax
            values = nil
        }

        init(_ name: String, _ values: [String]) {
            self.name = name
            valuesMax = values.count
            self.values = values
        }

        static let task = Label("task", most: RunStatistics.tasksMax + 1)
        static let plugin = Label("plugin", most: RunStatistics.pluginsMax + 1)
        static let endpoint = Label("endpoint", most: EndpointCounts.endpointsMax)
    }

    /// Without `_total` or `_info`, with its unit.
    package let name: String
    package let kind: Kind
    /// The unit, with which the name ends; "" if it has none.
    package let unit: String
    /// One sentence without a line break.
    package let help: String
    package let labels: [Label]
    /// When the daemon leaves it out; "" if it is always there.
    package let condition: String

    init(
        _ name: String,
        _ kind: Kind,
        unit: String = "",
        labels: [Label] = [],
        only condition: String = "",
        help: String
    ) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.help = help
        self.labels = labels
        self.condition = condition
    }

    /// The names of its series, as a query has them.
    package var seriesNames: [String] {
        switch kind {
        case .counter: [name + "_total"]
        case .info: [name + "_info"]
        case .gauge, .stateset: [name]
        case .histogram: ["_bucket", "_count", "_sum"].map { name + $0 }
        }
    }

    /// The labels of its series, with that of a histogram's bounds or of a state.
    package var allLabels: [Label] {
        switch kind {
        case .histogram: labels + [Label("le", most: DurationHistogram.bounds.count + 1)]
        case .stateset: labels + [Label(name, MetricsSnapshot.PluginState.allCases.map(\.rawValue))]
        case .counter, .gauge, .info: labels
        }
    }

    /// The most series that one daemon has of it.
    package var seriesMax: Int {
        let combinations = labels.reduce(1) { $0 * $1.valuesMax }
        return switch kind {
        case .histogram: combinations * (DurationHistogram.bounds.count + 3)
        case .stateset: combinations * MetricsSnapshot.PluginState.allCases.count
        case .counter, .gauge, .info: combinations
        }
    }
}
