// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostTransferRules
import Testing

/// Transfers as JSON, as many as fit.
@Suite struct TransferPageTests {
    private func transfer(_ number: UInt64, continuation: String = "") -> TransferDescription {
        var request = TransferRequest(
            id: RunID(high: 1, low: number),
            plugin: "p",
            session: "s",
            kind: .download,
            url: "http://h/\u{1}\"",
            file: "/d/f",
            createdAt: 0
        )
        request.continuation = Array(continuation.utf8)
        var status = TransferStatus(state: .done)
        status.answer = TransferAnswer(
            status: 200,
            headers: [TransferHeader("etag", "\"v\"")],
            body: [],
            bytes: 7
        )
        return TransferDescription(
            TransferRecord(request: request, key: "k", point: TransferPoint(), status: status)
        )
    }

    @Test func `A page has all that fit`() throws {
        let all = (1...3).map { transfer($0) }
        let whole = TransferPage(of: all, bytesMax: .max)
        #expect(whole.ids == all.map(\.id))
        #expect(!whole.hasMore && whole.need == nil)
        let json = try JSONReader.parse(whole.json)
        #expect(json.array?.count == 3)
        #expect(json.array?.first?["url"]?.string == "http://h/\u{1}\"")
        #expect(json.array?.first?["bytes"]?.int64 == 7)
        // To the byte.
        let exact = TransferPage(of: all, bytesMax: whole.json.utf8.count)
        #expect(exact == whole)
        let short = TransferPage(of: all, bytesMax: whole.json.utf8.count - 1)
        #expect(short.ids == Array(all.map(\.id).prefix(2)))
        #expect(short.hasMore)
        #expect(short.json.utf8.count <= whole.json.utf8.count - 1)
    }

    @Test func `A too large entry reports its length`() {
        let all = [transfer(1), transfer(2)]
        let none = TransferPage(of: all, bytesMax: 10)
        #expect(none.ids.isEmpty && none.hasMore)
        let one = TransferPage(of: all, bytesMax: none.need ?? 0)
        #expect(one.ids == [all[0].id])
        #expect(one.json.utf8.count == none.need)
    }

    @Test func `The first entry is shortened if it does not fit`() throws {
        let long = transfer(1, continuation: String(repeating: "x", count: 4000))
        let page = TransferPage(of: [long, transfer(2)], bytesMax: 1000, mayCut: true)
        #expect(page.ids.first == long.id)
        let first = try JSONReader.parse(page.json).array?.first
        #expect(first?["continuation"]?.string == "")
        #expect(first?["file"]?.string == "/d/f")
    }
}
