// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostTransferRules

/// The headers of W3C Trace Context in the requests of plugins.
enum TraceHeaders {
    static let parent = "traceparent"
    static let state = "tracestate"

    /// The headers of a place in a trace.
    static func of(_ context: TraceContext) -> [(String, String)] {
        let parent = [(Self.parent, context.traceparent)]
        return context.state.isEmpty ? parent : parent + [(state, context.state)]
    }

    /// Whether a plugin has set the headers itself; then the host leaves them alone.
    static func has(_ names: some Sequence<String>) -> Bool {
        names.contains { name in
            let lower = name.lowercased()
            return lower == parent || lower == state
        }
    }
}

extension FetchRequest {
    /// Adds the headers of a place in a trace, unless the plugin has set one of them.
    package mutating func add(_ context: TraceContext) {
        guard !TraceHeaders.has(headers.map(\.0)) else { return }
        headers += TraceHeaders.of(context)
    }
}

extension TransferRequest {
    /// Keeps the place in a trace with a transfer, unless the plugin has set the headers itself.
    ///
    /// The headers are stored with the transfer, so they survive a restart. They follow the fence, which a
    /// plugin cannot set: so they are the host's, and each attempt replaces them with its own span.
    package mutating func keep(_ context: TraceContext) {
        guard !TraceHeaders.has(headers.map(\.name)) else { return }
        headers += TraceHeaders.of(context).map { TransferHeader($0.0, $0.1) }
    }

    /// The place that the host has kept; `nil` if there is none.
    var trace: TraceContext? {
        guard let fence = headers.firstIndex(where: { Fence.isNamed($0.name) }) else { return nil }
        let own = headers[fence...]
        guard let parent = own.first(where: { $0.name == TraceHeaders.parent }) else { return nil }
        let state = own.first { $0.name == TraceHeaders.state }?.value ?? ""
        // The host wrote it; a header of a plugin in its place is no context.
        return try? TraceContext(traceparent: parent.value, tracestate: state)
    }
}

extension Span {
    /// The span of an HTTP request of a plugin.
    ///
    /// It has no path, no query and no header, since those may contain secrets.
    ///
    /// - Parameters:
    ///   - method: in the form in which it is sent, or "" for GET.
    ///   - status: the status of the response; 0 if there was none.
    ///   - error: a word for the kind of failure, and a sentence; `nil` if there was a response.
    package static func http(
        _ method: String,
        _ url: String,
        _ context: TraceContext,
        parent: UInt64,
        start: Int64,
        end: Int64,
        status: Int,
        error: (type: String, message: String)?,
        attributes: [Attribute]
    ) -> Span {
        // OpenTelemetry's word for a method that is none.
        let method = (try? RequestHeaders.method(method)) ?? "_OTHER"
        var all = [Attribute("http.request.method", .text(method))]
        // The error of the request says that its address is none.
        if let address = try? WebAddress(url) {
            all += [
                Attribute("url.scheme", .text(address.scheme.rawValue)),
                Attribute("server.address", .text(address.host)),
                Attribute("server.port", .number(Int64(address.port))),
            ]
        }
        if status > 0 {
            all.append(Attribute("http.response.status_code", .number(Int64(status))))
        }
        // As OpenTelemetry has it for clients: a status of an error is one.
        let failure =
            error ?? (status >= 400 ? ("\(status)", "the server answered \(status)") : nil)
        if let failure { all.append(Attribute("error.type", .text(failure.type))) }
        return Span(
            method,
            .client,
            context,
            parent: parent,
            start: start,
            end: end,
            attributes: all + attributes,
            error: failure?.message
        )
    }
}

extension FetchFailure {
    /// A word for the kind of failure, for statistics; it contains nothing of the request.
    package var kind: String {
        switch self {
        case .badURL: "badURL"
        case .badMethod: "badMethod"
        case .badHeader: "badHeader"
        case .badFile: "badFile"
        case .fileChanged: "fileChanged"
        case .permissionDenied: "permissionDenied"
        case .localAddress: "localAddress"
        case .unresolved: "unresolved"
        case .connection: "connection"
        case .badProxy: "badProxy"
        case .badRedirect: "badRedirect"
        case .tooManyRedirects: "tooManyRedirects"
        case .tooLarge: "tooLarge"
        case .headersTooLarge: "headersTooLarge"
        case .noRoom: "noRoom"
        case .tooManyDigests: "tooManyDigests"
        case .timedOut: "timedOut"
        case .cancelled: "cancelled"
        case .shutDown: "shutDown"
        }
    }
}
