// SPDX-License-Identifier: Apache-2.0

/// Where the daemon sends traces: the section `host.traces`.
package struct TraceSettings: Equatable, Sendable {
    /// The address that takes OTLP over HTTP, with its path.
    package var endpoint: String
    /// Headers of each request, such as a token.
    package var headers: [AlertHeader]
    /// Of how many of 10,000 traces that begin on this host the spans are sent, 0 to 10,000; a caller
    /// that names its trace decides for that one.
    package var sample: Int

    package static let sampleMax = 10_000

    package init(endpoint: String, headers: [AlertHeader] = [], sample: Int = sampleMax) {
        self.endpoint = endpoint
        self.headers = headers
        self.sample = sample
    }
}
