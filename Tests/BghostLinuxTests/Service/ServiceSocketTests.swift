// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
import BghostTestSupport
import Glibc
import Testing

/// The sockets of the service manager and of the journal, with a receiver of the test.
@Suite(.timeLimit(.minutes(5))) struct ServiceSocketTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    // MARK: The service manager

    @Test(arguments: [false, true])
    func `Messages arrive in one datagram`(isAbstract: Bool) throws {
        let name = isAbstract ? "@bghost-test-\(getpid())-messages" : folder.file("notify")
        let receiver = try DatagramReceiver(name)
        let socket = try NotifySocket(name)
        #expect(
            socket.send([.ready, .status("2 runs"), .watchdog, .stopping, .extendTimeout(5)])
        )
        #expect(
            receiver.text()
                == "READY=1\nSTATUS=2 runs\nWATCHDOG=1\nSTOPPING=1\nEXTEND_TIMEOUT_USEC=5"
        )
        #expect(socket.send([.reloading(since: 12)]))
        #expect(receiver.text() == "RELOADING=1\nMONOTONIC_USEC=12")
    }

    @Test func `A status is one line and bounded`() throws {
        let receiver = try DatagramReceiver(folder.file("notify"))
        let socket = try NotifySocket(receiver.address)
        #expect(socket.send([.status("a\nREADY=1\u{1B}[2J" + String(repeating: "x", count: 1000))]))
        let text = try #require(receiver.text())
        #expect(!text.contains("\n") && !text.contains("\u{1B}"))
        #expect(text.hasPrefix(#"STATUS=a\nREADY=1"#) && text.utf8.count < 600)
    }

    @Test func `A message without a receiver is dropped, and a later receiver gets the next`()
        throws
    {
        let socket = try NotifySocket(folder.file("notify"))
        #expect(!socket.send([.ready]))
        let receiver = try DatagramReceiver(folder.file("notify"))
        #expect(socket.send([.ready]))
        #expect(receiver.text() == "READY=1")
    }

    @Test func `A receiver that does not read delays no sender`() throws {
        let receiver = try DatagramReceiver(folder.file("notify"))
        let socket = try NotifySocket(receiver.address)
        // The kernel's queue is shorter than this.
        let sent = (0..<100_000).prefix { _ in socket.send([.watchdog]) }.count
        #expect(sent < 100_000)
        while receiver.receive(within: 0) != nil {}
        #expect(socket.send([.watchdog]))
    }

    @Test(arguments: ["", "relative", "vsock:2:1", "/" + String(repeating: "x", count: 108)])
    func `An invalid address is refused`(address: String) {
        #expect(throws: SystemError.self) { _ = try NotifySocket(address) }
    }

    // MARK: The journal

    /// The fields of an entry, as journald reads them.
    private func fields(_ bytes: [UInt8]) throws -> [String: String] {
        var fields: [String: String] = [:]
        var rest = bytes[...]
        while let end = rest.firstIndex(where: { $0 == 10 || $0 == UInt8(ascii: "=") }) {
            let name = String(decoding: rest[..<end], as: UTF8.self)
            let isLong = rest[end] == 10
            rest = rest[(end + 1)...]
            let length: Int
            if isLong {
                length = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
                rest = rest.dropFirst(8)
            } else {
                length = try #require(rest.firstIndex(of: 10)) - rest.startIndex
            }
            try #require(fields[name] == nil, "\(name) twice")
            fields[name] = String(decoding: rest.prefix(length), as: UTF8.self)
            rest = rest.dropFirst(length)
            try #require(rest.first == 10)
            rest = rest.dropFirst()
        }
        try #require(rest.isEmpty)
        return fields
    }

    @Test(arguments: [
        "plain", "", "a=b", "two\nlines", "\n", "x\nPRIORITY=0\n_PID=1",
        "x\n\u{5}\0\0\0\0\0\0\0PRIORITY",
        "ends\n", "MESSAGE=\nMESSAGE",
    ])
    func `No value can forge a field`(value: String) throws {
        var record = JournalRecord()
        record.add("PRIORITY", "6")
        record.add("BGHOST_TASK", value)
        record.addCut("MESSAGE", value)
        let found = try fields(record.bytes)
        #expect(found == ["PRIORITY": "6", "BGHOST_TASK": value, "MESSAGE": value])
    }

    @Test(arguments: ["x", "ä", "\n", "€"])
    func `A long message is cut, with the length of the rest`(character: String) throws {
        var record = JournalRecord()
        record.add("PRIORITY", "6")
        let text = String(repeating: character, count: 100_000)
        record.addCut("MESSAGE", text)
        #expect(record.bytes.count <= JournalRecord.bytesMax)
        #expect(record.bytes.count > JournalRecord.bytesMax - 64)
        let message = try #require(try fields(record.bytes)["MESSAGE"])
        let parts = message.split(separator: "… (")
        let rest = try #require(parts.last?.split(separator: " ").first.flatMap { Int($0) })
        #expect(parts.first.map { $0.utf8.count + rest } == text.utf8.count)
        #expect(message.hasSuffix(" more bytes)") && !message.contains("\u{FFFD}"))
    }

    @Test func `A journal entry arrives, and a missing journal is noticed`() throws {
        let path = folder.file("journal")
        let socket = try JournalSocket(path: path)
        var record = JournalRecord()
        record.add("MESSAGE", "hello")
        #expect(!socket.send(record))
        let receiver = try DatagramReceiver(path)
        #expect(socket.send(record))
        #expect(receiver.text() == "MESSAGE=hello\n")
    }

    @Test func `The journal's stream is known by device and inode`() throws {
        let path = try folder.write("", to: "stream")
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        var facts = stat()
        try #require(fstat(file, &facts) == 0)
        let right = "\(facts.st_dev):\(facts.st_ino)"
        #expect(JournalSocket.reads(file, variable: right))
        for wrong in [nil, "", "1", "\(facts.st_dev):\(facts.st_ino + 1)", right + ":1", "x:y"] {
            #expect(!JournalSocket.reads(file, variable: wrong))
        }
    }
}
