// SPDX-License-Identifier: Apache-2.0

/// A text format of metrics.
package enum MetricsFormat: String, CaseIterable, Sendable {
    /// OpenMetrics 1.0, which Prometheus asks for.
    case openMetrics = "openmetrics"
    /// The older text format 0.0.4, which every tool reads.
    case prometheus

    /// The value of `Content-Type`.
    package var contentType: String {
        switch self {
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        }
    }

    /// The format for a client.
    ///
    /// - Parameter accept: the value of `Accept`, or "" if there is none. Which format a client prefers does not
    ///   matter: who can read OpenMetrics gets it.
    package init(accept: String) {
        self = accept.contains("application/openmetrics-text") ? .openMetrics : .prometheus
    }
}
