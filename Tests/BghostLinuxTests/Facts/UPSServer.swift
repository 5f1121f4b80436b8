// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostTestSupport
import Glibc

/// A TCP server on the loopback that answers lines as a test says.
final class UPSServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let thread = WorkThread()

    /// - Parameter answer: what is sent for a line, its ends included; `nil` closes the connection.
    init(_ answer: @escaping @Sendable (String) -> String?) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var count = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, count) == 0 && listen(listener, 4) == 0
                    && getsockname(listener, $0, &count) == 0
            }
        }
        guard listener >= 0, isBound else { throw SystemError("listen", code: errno) }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        thread.perform { Self.serve(listener, answer) }
        thread.end()
    }

    /// Sends the same answer to each client, whatever it asks.
    convenience init(saying text: String) throws { try self.init { _ in text } }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    var address: UPSMonitor.Address { UPSMonitor.Address(host: "127.0.0.1", port: port) }

    private static func serve(_ listener: Int32, _ answer: (String) -> String?) {
        while true {
            let client = Descriptor.accept(listener)
            guard client >= 0 else { break }
            var line: [UInt8] = []
            var byte: UInt8 = 0
            while recv(client, &byte, 1, 0) == 1 {
                guard byte == UInt8(ascii: "\n") else {
                    line.append(byte)
                    continue
                }
                guard let text = answer(String(decoding: line, as: UTF8.self)),
                    send(client, text, text.utf8.count, Int32(MSG_NOSIGNAL)) >= 0
                else { break }
                line = []
            }
            close(client)
        }
        close(listener)
    }
}
