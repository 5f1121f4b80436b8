// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import HTTPTypes
internal import Hummingbird

/// Refuses requests from web pages in a browser.
///
/// A browser can reach the control socket if an operator forwards it to a port, as with `ssh -L
/// 8080:/run/bghost/control.sock`. Any open page could then send requests with the operator's rights. A page
/// whose own name resolves to this machine could also read the responses.
enum ForeignPage {
    private static let fetchSite = HTTPField.Name("Sec-Fetch-Site")
    private static let host = HTTPField.Name("Host")
    static let referer = HTTPField.Name("Referer")

    static func check(_ request: Request) throws(ControlFault) {
        if request.headers[.origin] != nil { throw refusal("an `Origin`") }
        // Old browsers send it where newer ones send the site.
        if let name = referer, request.headers[name] != nil { throw refusal("a `Referer`") }
        // `none` means that the user has typed the address.
        if let name = fetchSite, let site = request.headers[name], site != "none" {
            throw refusal("the `Sec-Fetch-Site` \(TerminalText.escaped(String(site.prefix(40))))")
        }
        try checkOneHost(request)
        try checkHost(request.head.authority ?? "")
        guard request.method != .get, request.method != .head else { return }
        try checkContent(request)
    }

    private static func refusal(_ sign: String) -> ControlFault {
        ControlFault(
            .foreignPage,
            "the request has \(sign), which browsers send for pages: no page may use this socket",
            fix: "use bghost, or a program that is no browser, such as curl"
        )
    }

    /// Of several, a proxy in front may have believed another one than this server, which believes the first.
    static func checkOneHost(_ request: Request) throws(ControlFault) {
        // The first one is the request's authority, and no header any more.
        guard let name = host, request.headers[name] != nil else { return }
        throw ControlFault(
            .foreignPage,
            "the request has several `Host` fields, so it does not say for whom it is",
            fix: "send one"
        )
    }

    /// A page whose own name resolves to this machine would have the same origin.
    private static func checkHost(_ authority: String) throws(ControlFault) {
        let host: Substring
        if authority.hasPrefix("[") {
            host = authority.prefix { $0 != "]" }.dropFirst()
        } else {
            host = authority.prefix { $0 != ":" }
        }
        guard ["", "localhost", "bghost", "127.0.0.1", "::1"].contains(host.lowercased()) else {
            throw ControlFault(
                .foreignPage,
                "the request's `Host` is \(TerminalText.escaped(String(authority.prefix(100)))),"
                    + " which is no name of this socket",
                fix: "send `Host: localhost`"
            )
        }
    }

    /// Browsers let pages send forms and plain text to any site, but not JSON.
    static func checkContent(_ request: Request) throws(ControlFault) {
        let type = request.headers[.contentType]
        let length = request.headers[.contentLength]
        let hasBody = request.headers[.transferEncoding] != nil || length ?? "0" != "0"
        let isJSON = type?.prefix { $0 != ";" }.lowercased() == "application/json"
        guard isJSON || type == nil && !hasBody else {
            throw ControlFault(
                .contentType,
                "a request that changes something has the `Content-Type` application/json, not "
                    + (type.map { TerminalText.escaped(String($0.prefix(60))) } ?? "none"),
                fix: "send `Content-Type: application/json`"
            )
        }
    }
}
