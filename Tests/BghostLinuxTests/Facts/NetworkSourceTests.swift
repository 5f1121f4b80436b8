// SPDX-License-Identifier: Apache-2.0

import BghostFacts
@testable import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5))) struct NetworkSourceTests {
    @Test func `This machine's tables are read`() async throws {
        let resident = try FactsResident()
        try await resident.start { _ in [NetworkSource(metered: [])] }
        let sheet = await resident.sheet { $0[.network].since != nil }
        #expect(sheet[.network].source == "rtnetlink")
        // The kernel's older table of the same: a way to everywhere has destination and mask 0.
        let routes = String(decoding: try File.read("/proc/net/route"), as: UTF8.self)
        let everywhere = "00000000"
        let first = routes.split(separator: "\n").first { line in
            let fields = line.split(separator: "\t")
            return fields.count > 7 && fields[1] == everywhere && fields[7] == everywhere
        }
        if let name = first?.split(separator: "\t").first {
            #expect(sheet[.network].reading == "default route over \(name) (IPv4)")
            #expect(sheet[.unmetered].value == .holds)
        } else {
            #expect(!sheet[.network].reading.contains("IPv4"))
        }
        // Nothing to be woken for but the two seconds until it counts.
        let wait = await resident.untilDeadline ?? 0
        #expect(wait <= 2_000_000_000)
        await resident.pass(seconds: 3)
        #expect(await resident.untilDeadline == nil)
        await resident.stop()
    }

    /// Gives the calling thread a network of its own, with nothing in it.
    private static func leaveNetwork() -> Int32 {
        // Swift does not see it: it is declared for GNU programs only.
        guard let symbol = dlsym(nil, "unshare") else { return -1 }
        let newNetwork: Int32 = 0x4000_0000
        return unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)(newNetwork)
    }

    private static let canMakeNetworks = getuid() == 0 && Toolchain.program("ip") != nil

    /// In a network of its own, which the reactor's thread moves to and which ends with it.
    @Test(.enabled(if: canMakeNetworks, "needs root and ip"))
    func `The kernel reports changes`() async throws {
        let resident = try FactsResident()
        try #require(await resident.perform { Self.leaveNetwork() } == 0)
        func ip(_ words: String) async throws {
            let result = try await resident.perform {
                try Command.run(["ip"] + words.split(separator: " ").map(String.init))
            }
            try #require(result.exitCode == 0, "ip \(words): \(result.error)")
        }
        try await resident.start { _ in [NetworkSource()] }
        let first = await resident.sheet { $0[.network].since != nil }[.network]
        #expect(first.reading == "no default route")

        try await ip("link add wire type veth peer name far")
        try await ip("addr add 192.0.2.2/24 dev wire")
        try await ip("link set far up")
        try await ip("link set wire up")
        try await ip("route add default via 192.0.2.1")
        _ = await resident.sheet { $0[.network].reading == "default route over wire (IPv4)" }
        // It holds after two seconds, and until then it fails.
        let fact = await resident.fact(.network, is: .holds)
        #expect(fact.reading.hasSuffix("wire (IPv4)"))
        #expect(fact.changes.map(\.value).prefix(2) == [.holds, .fails])

        // The other side goes away: the route stays.
        try await ip("link set far down")
        let dead = await resident.fact(.network, is: .fails)
        #expect(dead.reading == "default route over wire (IPv4), which is down")
        // The kernel takes the route away without a word.
        try await ip("link set wire down")
        _ = await resident.sheet { $0[.network].reading == "no default route" }
        await resident.stop()
    }
}
