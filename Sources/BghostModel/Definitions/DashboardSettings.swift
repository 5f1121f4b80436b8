// SPDX-License-Identifier: Apache-2.0

/// The section `host.dashboard`: where the daemon serves its pages, and to whom.
package struct DashboardSettings: Equatable, Sendable {
    /// The address on this machine's loopback interface.
    package var listen: LoopbackAddress
    /// Further names under which browsers reach it, each with a port if it is not the usual one, such as
    /// `ops.example` of a proxy with TLS.
    package var hosts: [String]
    /// How long a session lasts after its login.
    package var session: Duration

    package static let usualSession: Duration = .seconds(12 * 3600)

    package init(
        listen: LoopbackAddress,
        hosts: [String] = [],
        session: Duration = usualSession
    ) {
        self.listen = listen
        self.hosts = hosts
        self.session = session
    }
}

/// An address and a port of the loopback interface, such as `127.0.0.1:8645` or `[::1]:8645`.
package struct LoopbackAddress: Equatable, Sendable, CustomStringConvertible {
    /// `127.0.0.1` or `::1`.
    package let host: String
    /// 0 lets the system choose one.
    package let port: Int

    /// Parses it; `nil` for other addresses and for names, also for `localhost`, which may be both.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let digits = text[text.index(after: colon)...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
            let port = UInt16(digits)
        else { return nil }
        switch text[..<colon] {
        case "127.0.0.1": host = "127.0.0.1"
        case "[::1]": host = "::1"
        default: return nil
        }
        self.port = Int(port)
    }

    /// As a URL has it.
    package var description: String { authority(port: port) }

    /// The authority of a URL, with the port that the system chose.
    package func authority(port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
