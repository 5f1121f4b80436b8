// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import NIOSSL

/// The operator's settings for outgoing connections: the proxies and the trusted certificates.
///
/// The variables have their usual names: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`,
/// where the lower-case form takes precedence, and `SSL_CERT_FILE`, or else `SSL_CERT_DIR`. They
/// are read from the daemon's own environment, which no plugin can change.
package struct NetworkSettings: Sendable {
    let proxies: ProxyRules
    /// The trusted certificates that replace those of the system: a file in PEM form, or a folder
    /// with names as `c_rehash` makes them.
    ///
    /// `nil` means the system's.
    let trusted: String?
    /// How long a server, or the proxy before it, may take to accept a connection and prove its
    /// identity.
    var connectTimeout = Duration.seconds(10)

    /// Reads the settings once.
    init(environment: (String) -> String?) {
        proxies = ProxyRules(environment: environment)
        trusted = ["SSL_CERT_FILE", "SSL_CERT_DIR"].compactMap(environment).first { !$0.isEmpty }
    }

    /// The settings in this process's environment.
    static let system = NetworkSettings { name in
        getenv(name).map { String(cString: $0) }
    }

    /// The `host:port` of the proxy for a URL; `nil` if the connection is direct.
    func proxy(for url: String) throws(FetchFailure) -> String? {
        try proxies.proxy(for: try WebAddress(url))?.server
    }

    /// The configuration of TLS connections.
    var tls: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        // RFC 8996 withdrew the older versions.
        configuration.minimumTLSVersion = .tlsv12
        if let trusted { configuration.trustRoots = .file(trusted) }
        return configuration
    }
}
