// SPDX-License-Identifier: Apache-2.0

internal import BghostMetrics
internal import Synchronization

/// Counts the requests of the control API for the metrics.
///
/// Any thread may use it. It counts no request that is refused before its endpoint is known.
final class RequestMeter: Sendable {
    private let counts = Mutex<[Endpoint: EndpointCounts]>([:])

    /// Counts an answer.
    ///
    /// - Parameters:
    ///   - status: of HTTP.
    ///   - duration: since the request came, nanoseconds.
    func answered(_ endpoint: Endpoint, status: Int, after duration: UInt64) {
        counts.withLock { counts in
            counts[endpoint, default: EndpointCounts()].add(
                EndpointCounts.Answer(status: status),
                after: duration
            )
        }
    }

    /// The endpoints that were asked, in the order of their names.
    var byName: [(name: String, counts: EndpointCounts)] {
        counts.withLock { $0 }.map { ($0.key.rawValue, $0.value) }.sorted { $0.0 < $1.0 }
    }
}
