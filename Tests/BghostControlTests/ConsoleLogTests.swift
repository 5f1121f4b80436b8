// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostCommand
import BghostCommandLine
import BghostLinux
import BghostModel
import BghostServices
@testable import BghostTerminal
import BghostTestSupport
import Glibc
import Testing

/// What the daemon writes of its log, and where.
@Suite(.timeLimit(.minutes(5))) struct ConsoleLogTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    /// A file in the place of stderr.
    private final class Stream {
        let path: String
        let descriptor: Int32
        /// The value of `JOURNAL_STREAM` if the journal reads it.
        let name: String

        init(_ folder: TemporaryDirectory) throws {
            path = try folder.write("", to: "stderr")
            descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
            var facts = stat()
            try #require(fstat(descriptor, &facts) == 0)
            name = "\(facts.st_dev):\(facts.st_ino)"
        }

        deinit { close(descriptor) }

        var text: String {
            get throws { String(decoding: try BghostTestSupport.File.read(path), as: UTF8.self) }
        }
    }

    private func entry(
        _ level: LogEntry.Level = .error,
        _ message: String = "it failed",
        event: String = "run.ended"
    ) -> LogEntry {
        LogEntry(
            sequence: 7,
            time: 1_795_499_971_272_000_000,
            level: level,
            source: .host,
            event: event,
            message: message,
            task: "com.acme.storm",
            plugin: "storm",
            run: RunID(high: 1, low: 2)
        )
    }

    private func log(
        _ stream: Stream,
        _ format: LogFormat,
        journal: String? = nil,
        journalPath: String = "/nonexistent/journal"
    ) -> ConsoleLog {
        ConsoleLog(
            format: format,
            console: Console(.never),
            descriptor: stream.descriptor,
            journalStream: journal,
            journalPath: journalPath
        )
    }

    @Test func `Text in a file has the date and the zone`() throws {
        let stream = try Stream(folder)
        let log = log(stream, .text)
        log.write(entry())
        log.flush(seconds: 120)
        #expect(
            try stream.text == "2026-11-24T05:59:31.272Z error   com.acme.storm it failed\n"
        )
    }

    @Test func `A flush ends if its reader takes nothing, and otherwise once all is written`()
        throws
    {
        var ends: [Int32] = [0, 0]
        // Not a pipe, which a program that another test starts at this moment would hold open.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        defer { close(reading) }
        let log = ConsoleLog(format: .json, console: Console(.never), descriptor: writing)
        // More than the socket holds.
        let long = String(repeating: "x", count: 32 << 10)
        for _ in 0..<64 { log.write(entry(.error, long)) }
        log.write(entry(.error, "the last line"))
        log.flush(seconds: 1)
        let thread = WorkThread()
        defer { thread.end() }
        thread.perform {
            log.flush(seconds: 120)
            close(writing)
        }
        var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
        while true {
            let count = read(reading, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 65)
        #expect(lines.last?.contains("the last line") == true)
    }

    @Test func `Lines are JSON where no terminal and no journal reads them`() throws {
        let stream = try Stream(folder)
        let log = log(stream, .auto, journal: "1:1")
        log.write(entry())
        log.flush(seconds: 120)
        #expect(try stream.text.hasPrefix("{"))
    }

    @Test func `The journal gets fields`() throws {
        let (stream, journal) = (try Stream(folder), try DatagramReceiver(folder.file("journal")))
        let log = log(stream, .auto, journal: stream.name, journalPath: journal.address)
        log.write(entry())
        log.write(entry(.debug, "two\nlines", event: ""))
        log.flush(seconds: 120)
        let first = try #require(journal.text()).split(separator: "\n").map(String.init)
        #expect(
            first == [
                "PRIORITY=3", "SYSLOG_IDENTIFIER=bghost",
                "MESSAGE_ID=\(MessageID.table["run.ended"] ?? "")", "BGHOST_EVENT=run.ended",
                "BGHOST_TASK=com.acme.storm", "BGHOST_PLUGIN=storm",
                "BGHOST_RUN=\(RunID(high: 1, low: 2))", "BGHOST_SOURCE=host", "BGHOST_SEQUENCE=7",
                "MESSAGE=com.acme.storm it failed",
            ]
        )
        let second = try #require(journal.text())
        #expect(second.hasPrefix("PRIORITY=7\n") && !second.contains("BGHOST_EVENT"))
        #expect(try stream.text.isEmpty)
    }

    @Test func `A journal that refuses gets lines with priorities`() throws {
        let stream = try Stream(folder)
        let path = folder.file("journal")
        let log = log(stream, .auto, journal: stream.name, journalPath: path)
        log.write(entry(.warning))
        log.flush(seconds: 120)
        #expect(
            try stream.text == "<4>2026-11-24T05:59:31.272Z warning com.acme.storm it failed\n"
        )
        // Back again, it gets fields.
        let journal = try DatagramReceiver(path)
        log.write(entry())
        log.flush(seconds: 120)
        #expect(try #require(journal.text()).contains("BGHOST_EVENT=run.ended"))
    }

    @Test func `A format that the operator sets applies under the journal too`() throws {
        let (stream, journal) = (try Stream(folder), try DatagramReceiver(folder.file("journal")))
        let log = log(stream, .json, journal: stream.name, journalPath: journal.address)
        log.write(entry())
        log.flush(seconds: 120)
        #expect(try stream.text.hasPrefix("{"))
        #expect(journal.text(within: 0) == nil)
    }
}
