// SPDX-License-Identifier: Apache-2.0

/// A host and port that a plugin may reach, such as `api.open-meteo.com:443`, `*.example.org:443`
/// or `[::1]:8080`.
package struct NetworkGrant: Equatable, Hashable, Sendable {
    /// A name in lower case, or an address without brackets; `*.` stands for one or more labels.
    var host: String
    var port: UInt16

    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Whether it permits this port of a host, which is in lower case and without brackets.
    package func allows(host: String, port: UInt16) -> Bool {
        guard port == self.port else { return false }
        guard self.host.hasPrefix("*.") else { return host == self.host }
        let suffix = self.host.dropFirst()
        return host.utf8.count > suffix.utf8.count && host.hasSuffix(suffix)
    }
}
