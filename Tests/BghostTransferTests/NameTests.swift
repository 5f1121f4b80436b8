// SPDX-License-Identifier: Apache-2.0

@testable import BghostTransfer
import Dispatch
import Hummingbird
import NIOCore
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct NameTests {
    /// Answers every lookup with these addresses, and holds the system's rule on them.
    private func names(_ addresses: [[UInt8]]) -> NameLookup {
        NameLookup(addresses: { _ in .success(addresses) }, isLocal: NameLookup.system.isLocal)
    }

    /// Stands in for public addresses, which no test can serve: here 127.0.0.0/8 may be reached.
    private func reachable(_ addresses: [[UInt8]]) -> NameLookup {
        NameLookup(addresses: { _ in .success(addresses) }, isLocal: { _ in false })
    }

    /// Spellings that the system's resolver takes for loopback without asking a name server.
    @Test(arguments: ["127.1", "2130706433", "0x7f000001", "0177.0.0.1"])
    func `A name must not lead to this machine`(_ name: String) async throws {
        let listener = try SilentSocket(accepts: true)
        await #expect(throws: FetchFailure.localAddress(host: name, address: "127.0.0.1")) {
            try await fetch("http://\(name):\(listener.port)/")
        }
    }

    @Test func `One local address among others refuses a name`() async {
        let mixed = names([[8, 8, 8, 8], [10, 1, 2, 3]])
        let failure = FetchFailure.localAddress(host: "mixed.example", address: "10.1.2.3")
        await #expect(throws: failure) {
            try await fetch("http://mixed.example/", names: mixed)
        }
    }

    @Test(arguments: ["station.example", "xn--bcher-kva.example"])
    func `Connects to the address that was checked and keeps the name`(_ name: String) async throws
    {
        let lookups = Mutex(0)
        try await withServer { request in
            let seen = ByteBuffer(string: request.head.authority ?? "none")
            return Response(status: .ok, body: .init(byteBuffer: seen))
        } test: { port in
            let counting = NameLookup(
                addresses: { _ in
                    lookups.withLock { $0 += 1 }
                    return .success([[127, 0, 0, 1]])
                },
                isLocal: { _ in false }
            )
            // No name server knows the name: it works only if no other resolver looks it up.
            let response = try await fetch("http://\(name):\(port)/", names: counting)
            #expect(text(response) == "\(name):\(port)")
        }
        #expect(lookups.withLock { $0 } == 1)
    }

    @Test func `The next address is tried if one refuses`() async throws {
        try await withServer { request in
            let body = try await request.body.collect(upTo: 100)
            return Response(status: .ok, body: .init(byteBuffer: body))
        } test: { port in
            let response = try await fetch(
                "http://station.example:\(port)/",
                method: "POST",
                body: .bytes([65]),
                names: reachable([[127, 9, 9, 9], [127, 0, 0, 1]])
            )
            #expect(text(response) == "A")
        }
    }

    @Test func `A name without addresses is named`() async {
        let unknown = NameLookup(
            addresses: { _ in .failure(NameFailure(reason: "unknown")) },
            isLocal: { _ in false }
        )
        let failure = FetchFailure.unresolved(host: "nowhere.example", reason: "unknown")
        await #expect(throws: failure) {
            try await fetch("http://nowhere.example/", names: unknown)
        }
        await #expect(throws: FetchFailure.self) {
            try await fetch("http://nowhere.example/", names: names([]))
        }
    }

    @Test func `A lookup that hangs is timed out`() async {
        let answer = DispatchSemaphore(value: 0)
        let hanging = NameLookup(
            addresses: { _ in
                answer.wait()
                return .success([])
            },
            isLocal: { _ in false }
        )
        await #expect(throws: FetchFailure.timedOut(after: .milliseconds(50))) {
            try await fetch("http://slow.example/", timeout: .milliseconds(50), names: hanging)
        }
        answer.signal()
    }

    @Test func `Connections of many names are served by few clients`() async throws {
        try await withServer { request in
            Response(
                status: .ok,
                body: .init(byteBuffer: ByteBuffer(string: request.head.authority ?? "none"))
            )
        } test: { port in
            let fetcher = HTTPFetcher(
                names: reachable([[127, 0, 0, 1]]),
                network: .patient
            )
            // More names than clients are kept, twice, so that clients are dropped and made again.
            for name in (0..<40).map({ "n\($0 % 20).example:\(port)" }) {
                let request = FetchRequest(url: "http://\(name)/")
                let response = try await fetcher.fetch(request) { _, _ in true }
                #expect(text(response) == name)
            }
            await fetcher.shutDown()
        }
    }

    @Test(
        arguments: [
            [0, 0, 0, 0], [10, 0, 0, 1], [100, 64, 0, 1], [127, 0, 0, 1], [169, 254, 169, 254],
            [172, 16, 0, 1], [172, 31, 255, 255], [192, 0, 0, 8], [192, 168, 1, 1],
            [198, 18, 0, 1],
            [224, 0, 0, 1], [255, 255, 255, 255],
            v6(), v6(last: [0, 1]), v6([0xFE, 0x80]), v6([0xFE, 0xC0]), v6([0xFC]),
            v6([0xFD, 0x12]),
            v6([0xFF, 0x02]), v6([0, 0x64, 0xFF, 0x9B], last: [10, 0, 0, 1]),
            v6([0, 0x64, 0xFF, 0x9B, 0, 1], last: [8, 8, 8, 8]), v6([0x20, 0x02, 192, 168, 1, 1]),
            v6(last: [0xFF, 0xFF, 127, 0, 0, 1]), v6(last: [10, 0, 0, 1]),
        ] as [[UInt8]]
    )
    func `Addresses inside are local`(_ address: [UInt8]) {
        #expect(NameLookup.system.isLocal(address))
    }

    @Test(
        arguments: [
            [1, 1, 1, 1], [8, 8, 8, 8], [100, 63, 0, 1], [100, 128, 0, 1], [172, 15, 0, 1],
            [172, 32, 0, 1], [192, 169, 0, 1], [198, 20, 0, 1], [223, 255, 255, 255],
            v6([0x20, 0x01, 0x48, 0x60], last: [0x88, 0x88]), v6([0x26, 0x06, 0x47]),
            v6([0, 0x64, 0xFF, 0x9B], last: [8, 8, 8, 8]), v6([0x20, 0x02, 8, 8, 8, 8]),
            v6(last: [0xFF, 0xFF, 8, 8, 8, 8]),
        ] as [[UInt8]]
    )
    func `Addresses outside are not local`(_ address: [UInt8]) {
        #expect(!NameLookup.system.isLocal(address))
    }
}

/// An IPv6 address of its first and last bytes, with zeros between.
private func v6(_ first: [UInt8] = [], last: [UInt8] = []) -> [UInt8] {
    first + Array(repeating: 0, count: 16 - first.count - last.count) + last
}
