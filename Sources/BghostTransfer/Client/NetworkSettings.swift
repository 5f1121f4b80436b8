// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOSSL

/// What the machine's operator says of the way out: through which proxies, and whom to trust.
///
/// Named as everywhere: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`, also in lower case,
/// which counts first; `SSL_CERT_FILE`, or else `SSL_CERT_DIR`. The daemon's own environment is meant: a
/// plugin can change none of them.
package struct NetworkSettings: Sendable {
    let proxies: ProxyRules
    /// Where the certificates are that may vouch for servers, instead of where the system has them: a
    /// file in PEM form, or a folder of such as `c_rehash` names them.
    let trusted: String?

    /// Reads settings once.
    package init(environment: (String) -> String?) {
        proxies = ProxyRules(environment: environment)
        trusted = ["SSL_CERT_FILE", "SSL_CERT_DIR"].compactMap(environment).first { !$0.isEmpty }
    }

    /// Those of this process.
    package static let system = NetworkSettings { name in
        getenv(name).map { String(cString: $0) }
    }

    /// The `host:port` of the proxy that a URL is fetched through; `nil` if there is none.
    package func proxy(for url: String) throws(FetchFailure) -> String? {
        try proxies.proxy(for: try WebAddress(url))?.server
    }

    /// What TLS connections are made with.
    var tls: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        // What is older has been withdrawn (RFC 8996).
        configuration.minimumTLSVersion = .tlsv12
        if let trusted { configuration.trustRoots = .file(trusted) }
        return configuration
    }
}
