// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import HTTPTypes
internal import Hummingbird

extension TraceContext {
    /// The place in a trace that a client's HTTP library sent with a request; `nil` if there is none.
    ///
    /// As W3C Trace Context prescribes, faulty headers count as none: the client has not written them.
    init?(headersOf request: Request) {
        guard let parent = HTTPField.Name("traceparent"), let state = HTTPField.Name("tracestate")
        else { return nil }
        self.init(
            traceparents: request.headers[values: parent],
            tracestates: request.headers[values: state]
        )
    }
}
