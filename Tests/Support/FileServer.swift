// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// An HTTP server of one file, and perhaps of others, on a free port of 127.0.0.1, which keeps what it is
/// asked and counts what it sends.
///
/// It knows ranges and strong tags, takes any upload, and can stop in the middle of a body until it
/// is told to go on. A thread for each connection, so that it needs no library.
package final class FileServer: Sendable {
    /// A request as it came.
    package struct Seen: Sendable {
        package var method: String
        package var target: String
        /// Names are in lower case.
        package var headers: [String: String]
        package var body: [UInt8] = []

        /// Where the range that it asks for begins.
        package var rangeStart: Int? {
            guard let range = headers["range"], range.hasPrefix("bytes="), range.hasSuffix("-")
            else { return nil }
            return Int(range.dropFirst(6).dropLast())
        }
    }

    private struct State {
        var seen: [Seen] = []
        var sent = 0
        var holdAt: Int?
        var sockets: Set<Int32> = []
        var isClosed = false
    }

    package let port: UInt16
    package let content: [UInt8]
    /// Other files by target.
    private let files: Mutex<[String: [UInt8]]> = Mutex([:])
    private let listener: Int32
    /// Its writing end is closed when bodies go on.
    private let gate: (reading: Int32, writing: Int32)
    private let state: Mutex<State>
    private let holds: AsyncStream<Void>
    private let isHeld: AsyncStream<Void>.Continuation

    /// - Parameter holdAt: where in the file bodies stop until `release`; `nil` is nowhere.
    package init(_ content: [UInt8], holdAt: Int? = nil) throws(SystemCallError) {
        self.content = content
        state = Mutex(State(holdAt: holdAt))
        (holds, isHeld) = AsyncStream.makeStream()
        gate = try Descriptor.pipe()
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let code = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) | getsockname(listener, $0, &length)
            }
        }
        guard code == 0, listen(listener, 64) == 0 else {
            throw SystemCallError(call: "listen", code: errno)
        }
        port = UInt16(bigEndian: address.sin_port)
        Self.onOwnThread { [self] in accept() }
    }

    /// Adds a file under a target such as `/feed.json`; all other targets have the first one.
    package func add(_ file: [UInt8], at target: String) { files.withLock { $0[target] = file } }

    /// Hangs up on all, and takes no more.
    package func close() {
        // Under the lock: a number is another test's descriptor as soon as its connection has ended.
        state.withLock { state in
            state.isClosed = true
            for socket in state.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
        release()
        shutdown(listener, Int32(SHUT_RDWR))
    }

    /// Asks clients to come back in an hour.
    package var busyURL: String { "http://127.0.0.1:\(port)/busy" }
    package var url: String { "http://127.0.0.1:\(port)/file" }
    package var grant: String { "127.0.0.1:\(port)" }
    package var seen: [Seen] { state.withLock { $0.seen } }
    /// How many bytes of bodies were handed to the network.
    package var sent: Int { state.withLock { $0.sent } }

    /// Returns when a body has stopped in its middle.
    package func held() async {
        for await _ in holds { return }
    }

    /// Has all bodies go on.
    package func release() {
        let wasHeld = state.withLock { state in
            defer { state.holdAt = nil }
            return state.holdAt != nil
        }
        if wasHeld { Glibc.close(gate.writing) }
    }

    // MARK: Threads

    static func onOwnThread(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let box = Unmanaged.passRetained(Box(body: body)).toOpaque()
        pthread_create(
            &thread,
            nil,
            { argument in
                if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            },
            box
        )
        pthread_detach(thread)
    }

    private final class Box: Sendable {
        let body: @Sendable () -> Void

        init(body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private func accept() {
        while true {
            let socket = Descriptor.accept(listener)
            guard socket >= 0 else { return }
            let isOpen = state.withLock { state in
                guard !state.isClosed else { return false }
                state.sockets.insert(socket)
                return true
            }
            guard isOpen else {
                Glibc.close(socket)
                return
            }
            Self.onOwnThread { [self] in
                serve(socket)
                state.withLock { _ = $0.sockets.remove(socket) }
                Glibc.close(socket)
            }
        }
    }

    // MARK: Requests

    private func serve(_ socket: Int32) {
        var buffer: [UInt8] = []
        while let request = read(socket, &buffer) {
            state.withLock { $0.seen.append(request) }
            let isWhole =
                request.method == "GET" || request.method == "POST" && request.target == "/file"
                ? send(request, to: socket)
                : write("HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\ndone", to: socket)
            guard isWhole else { return }
        }
    }

    private func read(_ socket: Int32, _ buffer: inout [UInt8]) -> Seen? {
        let mark = Array("\r\n\r\n".utf8)
        func end() -> Int? {
            guard buffer.count >= 4 else { return nil }
            return (0...(buffer.count - 4)).first { buffer[$0..<($0 + 4)].elementsEqual(mark) }
        }
        while end() == nil { guard more(socket, &buffer) else { return nil } }
        guard let end = end() else { return nil }
        let lines = String(decoding: buffer[..<end], as: UTF8.self).split(separator: "\r\n")
        buffer.removeFirst(end + 4)
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3 else { return nil }
        var request = Seen(method: String(words[0]), target: String(words[1]), headers: [:])
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            request.headers[line[..<colon].lowercased()] = String(value)
        }
        let length = Int(request.headers["content-length"] ?? "0") ?? 0
        while buffer.count < length { guard more(socket, &buffer) else { return nil } }
        request.body = Array(buffer.prefix(length))
        buffer.removeFirst(length)
        return request
    }

    private func more(_ socket: Int32, _ buffer: inout [UInt8]) -> Bool {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(socket, &piece, piece.count, 0)
        guard count > 0 else { return false }
        buffer += piece[..<count]
        return true
    }

    private func send(_ request: Seen, to socket: Int32) -> Bool {
        if request.target == "/busy" {
            let head = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 3600\r\n"
            return write(head + "Content-Length: 0\r\n\r\n", to: socket)
        }
        let content = files.withLock { $0[request.target] } ?? content
        var start = 0
        var head = "HTTP/1.1 200 OK\r\n"
        if let from = request.rangeStart, request.headers["if-range"] == Self.tag {
            start = min(from, content.count)
            head =
                "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes \(start)-"
                + "\(content.count - 1)/\(content.count)\r\n"
        }
        head += "ETag: \(Self.tag)\r\nContent-Length: \(content.count - start)\r\n\r\n"
        guard write(head, to: socket) else { return false }
        while start < content.count {
            let hold = state.withLock { $0.holdAt }
            if let hold, start >= hold {
                isHeld.yield()
                guard isReleased(socket) else { return false }
                continue
            }
            let end = min(content.count, start + 16 << 10, hold ?? .max)
            // First the count: who has got the bytes may look at it at once.
            state.withLock { $0.sent += end - start }
            guard write(content[start..<end], to: socket) else {
                state.withLock { $0.sent -= end - start }
                return false
            }
            start = end
        }
        return true
    }

    private static var tag: String { "\"v1\"" }

    /// Waits until bodies go on, or the client is gone.
    private func isReleased(_ socket: Int32) -> Bool {
        var wanted = [
            pollfd(fd: gate.reading, events: Int16(POLLIN), revents: 0),
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&wanted, 2, -1) < 0, errno == EINTR {}
        return wanted[1].revents == 0
    }

    private func write(_ text: String, to socket: Int32) -> Bool {
        write(Array(text.utf8)[...], to: socket)
    }

    private func write(_ bytes: ArraySlice<UInt8>, to socket: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

/// Waits until some file in a folder is so long.
///
/// - Parameter prefix: how its name begins.
/// - Returns: `false` if the folder cannot be watched.
package func waitForFile(in folder: String, named prefix: String = "", bytes: Int) -> Bool {
    let watcher = inotify_init1(Int32(IN_CLOEXEC))
    guard watcher >= 0 else { return false }
    defer { close(watcher) }
    let events = UInt32(IN_MODIFY) | UInt32(IN_CREATE) | UInt32(IN_MOVED_TO)
    guard inotify_add_watch(watcher, folder, events) >= 0 else { return false }
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
        for name in (try? File.list(folder)) ?? [] where name.hasPrefix(prefix) {
            var status = stat()
            if stat(folder + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
                status.st_size >= bytes
            {
                return true
            }
        }
        guard read(watcher, &buffer, buffer.count) > 0 else { return false }
    }
}
