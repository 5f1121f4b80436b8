// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// The section `host.traces`.
extension ManifestBuilder {
    /// Reads where traces are sent; `nil` if there is no such section.
    func traces(_ node: JSONNode?, in source: ManifestSource) -> TraceSettings? {
        guard let node, let place = node["endpoint"], let endpoint = url(place, in: source) else {
            return nil
        }
        let headers = headers(node["headers"], in: source)
        checkEndpoint(endpoint, at: place.span, hasHeaders: !headers.isEmpty, in: source)
        var settings = TraceSettings(endpoint: endpoint, headers: headers)
        if let share = amount(node["sample"], .share) {
            settings.sample = Int(clamping: share) * (TraceSettings.sampleMax / 100)
        }
        return settings
    }

    /// Warns about an address that no receiver of OTLP over HTTP has; messages do not show it, because it may
    /// contain a secret.
    private func checkEndpoint(
        _ endpoint: String,
        at span: ByteSpan,
        hasHeaders: Bool,
        in source: ManifestSource
    ) {
        let scheme = endpoint.hasPrefix("https://") ? 8 : 7
        let rest = endpoint.utf8.dropFirst(scheme)
        let authority = String(rest.prefix { !"/?".utf8.contains($0) }) ?? ""
        let path = rest.dropFirst(authority.utf8.count)
        if path.first != UInt8(ascii: "/") || path.elementsEqual("/".utf8) {
            collector.report(
                .traceEndpointWithoutPath,
                severity: .warning,
                at: span,
                in: source,
                "the address of `traces` has no path",
                help: "receivers of OTLP over HTTP listen at /v1/traces"
            )
        }
        if authority.hasSuffix(":4317") {
            collector.report(
                .traceEndpointOfGRPC,
                severity: .warning,
                at: span,
                in: source,
                "the address of `traces` has the port 4317, which is that of OTLP over gRPC",
                help: "bghost sends OTLP over HTTP, whose usual port is 4318"
            )
        }
        let host = authority.hasPrefix("[") ? authority : authority.prefix { $0 != ":" }.description
        let isAddress = host.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
        let isLocal =
            host == "localhost" || host.hasPrefix("127.") && isAddress || host.hasPrefix("[::1]")
        if hasHeaders, scheme == 7, !isLocal {
            collector.report(
                .traceHeadersInClear,
                severity: .warning,
                at: span,
                in: source,
                "`traces` sends its headers to another machine without encryption",
                help: "use https://, or a collector on this machine"
            )
        }
    }
}
