// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import Glibc

/// A TCP connection for a line protocol, with one deadline and one byte limit for the whole
/// exchange.
///
/// It blocks, so use it on a thread that may block.
final class LineSocket {
    /// Why the exchange failed.
    enum Failure: Error, Equatable, CustomStringConvertible {
        case noSuchHost(String)
        case system(SystemError)
        case late
        case ended
        case tooLong

        var description: String {
            switch self {
            case .noSuchHost(let host): "there is no host `\(host)`"
            case .system(let error): error.description
            case .late: "no answer in time"
            case .ended: "the connection was closed in mid-answer"
            case .tooLong: "the answer is too long"
            }
        }
    }

    private let socket: Descriptor
    private let deadline: MonotonicInstant
    private var received: [UInt8] = []
    private var bytesLeft: Int
    private static let lineMax = 1024

    /// Connects to the first of a host's addresses that answers.
    ///
    /// The name lookup is not bound by the deadline; it takes as long as the resolver's own
    /// timeout.
    ///
    /// - Parameters:
    ///   - deadline: for the rest of the exchange.
    ///   - bytesMax: the most bytes to receive.
    init(host: String, port: UInt16, deadline: MonotonicInstant, bytesMax: Int) throws(Failure) {
        self.deadline = deadline
        bytesLeft = bytesMax
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, String(port), &hints, &list) == 0 else { throw .noSuchHost(host) }
        defer { freeaddrinfo(list) }
        var failure = Failure.noSuchHost(host)
        var next = list
        while let address = next?.pointee {
            do throws(Failure) {
                socket = try Self.connect(address, until: deadline, name: "\(host):\(port)")
                return
            } catch {
                failure = error
            }
            next = address.ai_next
        }
        throw failure
    }

    private static func connect(
        _ address: addrinfo,
        until deadline: MonotonicInstant,
        name: String
    ) throws(Failure) -> Descriptor {
        let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let fd = Glibc.socket(address.ai_family, address.ai_socktype | flags, address.ai_protocol)
        guard fd >= 0 else { throw .system(SystemError("open a socket", code: errno)) }
        let socket = Descriptor(owning: fd)
        guard Glibc.connect(fd, address.ai_addr, address.ai_addrlen) != 0 else { return socket }
        guard errno == EINPROGRESS else {
            throw .system(SystemError("connect to", name, code: errno))
        }
        try wait(fd, for: POLLOUT, until: deadline)
        var code: Int32 = 0
        var count = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &count)
        guard code == 0 else { throw .system(SystemError("connect to", name, code: code)) }
        return socket
    }

    private static func wait(
        _ fd: Int32,
        for events: Int32,
        until deadline: MonotonicInstant
    ) throws(Failure) {
        while true {
            let now = Monotonic.now
            guard now < deadline else { throw .late }
            var waiting = pollfd(fd: fd, events: Int16(events), revents: 0)
            let milliseconds = Int32(clamping: deadline.since(now) / 1_000_000 + 1)
            let count = poll(&waiting, 1, milliseconds)
            if count > 0 { return }
            guard count == 0 || errno == EINTR else {
                throw .system(SystemError("wait for a socket", code: errno))
            }
        }
    }

    /// Sends a line; the line break is added.
    func send(_ line: String) throws(Failure) {
        let bytes = Array((line + "\n").utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket.raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                sent += count
            } else if errno == EAGAIN {
                try Self.wait(socket.raw, for: POLLOUT, until: deadline)
            } else if errno != EINTR {
                throw .system(SystemError("send", code: errno))
            }
        }
    }

    /// Receives the next line, without its line break.
    func line() throws(Failure) -> [UInt8] {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                var line = Array(received[..<end])
                received.removeSubrange(...end)
                if line.last == UInt8(ascii: "\r") { line.removeLast() }
                return line
            }
            guard received.count <= Self.lineMax, bytesLeft > 0 else { throw .tooLong }
            try Self.wait(socket.raw, for: POLLIN, until: deadline)
            let (count, bytes) = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) {
                buffer -> (Int, [UInt8]) in
                let count = recv(socket.raw, buffer.baseAddress, buffer.count, 0)
                return (count, Array(buffer.prefix(max(0, count))))
            }
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count >= 0 else { throw .system(SystemError("receive", code: errno)) }
            guard count > 0 else { throw .ended }
            received += bytes
            bytesLeft -= count
        }
    }
}
