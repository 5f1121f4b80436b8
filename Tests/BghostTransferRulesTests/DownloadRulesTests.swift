// SPDX-License-Identifier: Apache-2.0

@testable import BghostTransferRules
import Testing

@Suite struct DownloadRulesTests {
    private static let boot = "b1"

    private static func point(total: Int64? = 100, bytes: Int64 = 40) -> TransferPoint {
        var point = TransferPoint(boot: boot)
        point.validator = .tag("\"v1\"")
        point.total = total
        point.bytes = bytes
        return point
    }

    private func ask(
        _ point: TransferPoint,
        _ length: Int64,
        boot: String = boot,
        method: String = "GET"
    ) -> DownloadAsk {
        DownloadRules.ask(point, length: length, boot: boot, method: method)
    }

    @Test func `Asks for the rest of what is there`() {
        #expect(ask(Self.point(), 60) == .rest(from: 60, ifRange: "\"v1\""))
        // After a power cut only what was made durable counts.
        #expect(ask(Self.point(), 60, boot: "b2") == .rest(from: 40, ifRange: "\"v1\""))
        #expect(ask(Self.point(), 30, boot: "b2") == .rest(from: 30, ifRange: "\"v1\""))
    }

    @Test func `Asks for nothing if all is there`() {
        #expect(ask(Self.point(), 100) == .nothing)
        #expect(ask(Self.point(bytes: 100), 100, boot: "b2") == .nothing)
    }

    @Test func `Restarts if it cannot resume`() {
        #expect(ask(TransferPoint(boot: Self.boot), 60) == .whole)
        #expect(ask(Self.point(), 0) == .whole)
        #expect(ask(Self.point(), 101) == .whole)
        #expect(ask(Self.point(), 60, method: "POST") == .whole)
        #expect(ask(Self.point(bytes: 0), 60, boot: "b2") == .whole)
    }

    /// What a server may answer, and what comes of it.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let status: Int
        let fields: [String: String]
        let from: Int64?
        let fault: TransferFault.Code?
        var length: Int64?

        init(
            _ name: String,
            _ status: Int,
            _ fields: [String: String],
            from: Int64? = nil,
            length: Int64? = nil,
            fault: TransferFault.Code? = nil
        ) {
            self.name = name
            self.status = status
            self.fields = fields
            self.from = from
            self.length = length
            self.fault = fault
        }

        var testDescription: String { name }
        var head: AnswerHead {
            AnswerHead(status: status, headers: fields.map { TransferHeader($0.key, $0.value) })
        }
    }

    private static func part(_ range: String, _ more: [String: String] = [:]) -> [String: String] {
        ["content-range": "bytes " + range, "etag": "\"v1\""].merging(more) { $1 }
    }

    /// Byte 60 and what follows was asked for, of 100.
    static let answers = [
        Case("the rest", 206, part("60-99/100"), from: 60, length: 40),
        Case("a part of the rest", 206, part("60-79/100"), from: 60, length: 20),
        Case("a rest of unknown total", 206, part("60-99/*"), from: 60, length: 40),
        Case(
            "a rest with its length",
            206,
            part("60-99/100", ["content-length": "40"]),
            from: 60,
            length: 40
        ),
        Case(
            "a rest with another length",
            206,
            part("60-99/100", ["content-length": "41"]),
            fault: .contradiction
        ),
        Case("another beginning", 206, part("59-99/100"), fault: .contradiction),
        Case("another total", 206, part("60-100/101"), fault: .contradiction),
        Case("more than there is", 206, part("60-100/*"), fault: .contradiction),
        Case("another version", 206, part("60-99/100", ["etag": "\"v2\""]), fault: .contradiction),
        Case("no version", 206, ["content-range": "bytes 60-99/100"], fault: .contradiction),
        Case("no range", 206, ["etag": "\"v1\""], fault: .contradiction),
        Case("no bytes", 206, part("*/100"), fault: .contradiction),
        Case(
            "several parts",
            206,
            ["etag": "\"v1\"", "content-type": "multipart/byteranges"],
            fault: .contradiction
        ),
        Case(
            "a packed part",
            206,
            part("60-99/100", ["content-encoding": "gzip"]),
            fault: .contradiction
        ),
        Case("all of it", 200, ["etag": "\"v2\"", "content-length": "7"], from: 0, length: 7),
        Case("all, packed", 200, ["content-encoding": "gzip", "content-length": "7"], from: 0),
        Case("all, packed oddly", 200, ["content-encoding": "br"], fault: .encoding),
        Case("all, packed twice", 200, ["content-encoding": "gzip, gzip"], fault: .encoding),
        Case("too much", 200, ["content-length": "1001"], fault: .tooLarge),
        Case("too much of unknown total", 206, part("60-1100/*"), fault: .contradiction),
        Case("not satisfiable", 416, ["content-range": "bytes */50"], fault: .contradiction),
        Case("not satisfiable, no range", 416, [:], fault: .contradiction),
        Case("not found", 404, [:], fault: .status),
        Case("not modified", 304, [:], fault: .status),
    ]

    @Test(arguments: answers) func `Judges an answer`(to answer: Case) {
        let ask = DownloadAsk.rest(from: 60, ifRange: "\"v1\"")
        let verdict = DownloadRules.judge(
            answer.head,
            to: ask,
            point: Self.point(),
            bytesMax: 1000
        )
        switch verdict {
        case .body(let from, let length, let point):
            #expect(from == answer.from)
            #expect(length == answer.length)
            #expect(answer.from == 60 ? point.validator == .tag("\"v1\"") : point.bytes == 0)
        case .complete: Issue.record("nothing says that all of it is there")
        case .fault(let fault):
            #expect(fault.code == answer.fault)
            #expect(answer.from == nil)
        }
    }

    @Test func `Not satisfiable may mean that all is there`() {
        func judge(_ fields: [String: String], total: Int64?) -> DownloadVerdict {
            DownloadRules.judge(
                Case("", 416, fields).head,
                to: .rest(from: 60, ifRange: "\"v1\""),
                point: Self.point(total: total),
                bytesMax: 1000
            )
        }
        #expect(judge(["content-range": "bytes */60"], total: nil) == .complete)
        #expect(judge(["content-range": "bytes */60", "etag": "\"v1\""], total: nil) == .complete)
        #expect(judge(["content-range": "bytes */60", "etag": "\"v2\""], total: nil) != .complete)
        #expect(judge(["content-range": "bytes */60"], total: 100) != .complete)
    }

    @Test func `The end of a part is not the end of the file`() {
        func isComplete(_ status: Int, total: Int64?) -> Bool {
            DownloadRules.isComplete(
                Case("", status, [:]).head,
                point: Self.point(total: total),
                length: 80
            )
        }
        #expect(isComplete(200, total: nil))
        #expect(isComplete(200, total: 80))
        #expect(isComplete(206, total: 80))
        #expect(!isComplete(206, total: 100))
        #expect(!isComplete(206, total: nil))
    }

    @Test func `A range that was not requested is refused`() {
        let verdict = DownloadRules.judge(
            Case("", 206, Self.part("0-99/100")).head,
            to: .whole,
            point: TransferPoint(),
            bytesMax: 1000
        )
        guard case .fault(let fault) = verdict else {
            Issue.record("it was taken")
            return
        }
        #expect(fault.verdict == .afresh)
    }

    @Test func `Only server's faults and load are tried again`() {
        let again = (100..<600).filter {
            TransferFault(.status, "", status: $0).verdict == .again
        }
        #expect(again == [408, 425, 429] + (500..<600).filter { $0 != 501 && $0 != 505 })
    }
}
