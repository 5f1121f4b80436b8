// SPDX-License-Identifier: Apache-2.0

internal import BghostAPI
internal import BghostBase
internal import HTTPTypes
internal import Hummingbird

/// Refuses requests that other pages in a browser send to the dashboard, and protects its own pages.
///
/// A page whose name resolves to this machine would have the dashboard's address, so each request names a
/// site that is known, questions included. The token is what permits a request; the checks here are for a
/// browser that shows a hostile page beside the dashboard.
enum DashboardGuard {
    private static let fetchSite = HTTPField.Name("Sec-Fetch-Site")

    /// - Parameter isPage: whether it asks for a page, which a link of another page may open.
    static func check(
        _ request: Request,
        _ dashboard: Dashboard,
        isPage: Bool
    ) throws(ControlFault) {
        try ForeignPage.checkOneHost(request)
        let authority = request.head.authority ?? ""
        guard dashboard.knows(authority: authority) else {
            throw ControlFault(
                .noSuchSite,
                "the request is for \(shown(authority)), which is no name of this dashboard",
                fix:
                    "use the link of `bghost dashboard`, or list the name in `host.dashboard.hosts`"
            )
        }
        if let origin = request.headers[.origin],
            origin != "http://\(authority)", origin != "https://\(authority)"
        {
            throw foreign("the page \(shown(origin))")
        }
        if let name = fetchSite, let site = request.headers[name],
            !["same-origin", "none"].contains(site), !isPage
        {
            throw foreign("another page (`Sec-Fetch-Site` is \(shown(site)))")
        }
        // Our own pages send none, by their `Referrer-Policy`.
        if let name = ForeignPage.referer, let page = request.headers[name], !isPage,
            !["http", "https"].contains(where: { page.hasPrefix("\($0)://\(authority)/") })
        {
            throw foreign("the page \(shown(page))")
        }
    }

    /// Requests that change something have JSON, which no page can send elsewhere without asking first.
    static func checkContent(_ request: Request) throws(ControlFault) {
        guard Verbs.isVerb(request) else { return }
        try ForeignPage.checkContent(request)
    }

    private static func foreign(_ sender: String) -> ControlFault {
        ControlFault(
            .foreignPage,
            "\(sender) sent the request, and only the dashboard's own pages may",
            fix: "open the link of `bghost dashboard`"
        )
    }

    private static func shown(_ text: String) -> String {
        text.isEmpty ? "no site" : TerminalText.escaped(String(text.prefix(100)))
    }

    /// What a browser may do with an answer: no script, style or connection but our own, and no frame.
    static func protect(_ response: inout Response) {
        for (name, value) in fields { response.headers[name] = value }
    }

    private static let fields: [(HTTPField.Name, String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
                + " img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
                + " require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ].compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }
}
