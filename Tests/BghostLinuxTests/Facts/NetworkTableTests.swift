// SPDX-License-Identifier: Apache-2.0

import BghostFacts
@testable import BghostLinux
import BghostTestSupport
import Testing

@Suite struct NetworkTableTests {
    private typealias Make = NetlinkFixture

    /// What the kernel lists, and whether that is a network.
    struct Listing: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var messages: [[UInt8]]
        var isNetwork: Bool
        var text: String
    }

    static let ethernet = [NetlinkFixture.link(2, "eth0"), NetlinkFixture.address(2)]

    static let listings = [
        Listing(
            testDescription: "nothing",
            messages: [],
            isNetwork: false,
            text: "no default route"
        ),
        Listing(
            testDescription: "a link and an address, but no way out",
            messages: ethernet + [Make.route(over: 2, length: 24)],
            isNetwork: false,
            text: "no default route"
        ),
        Listing(
            testDescription: "a way out",
            messages: ethernet + [Make.route(over: 2)],
            isNetwork: true,
            text: "default route over eth0 (IPv4)"
        ),
        Listing(
            testDescription: "a link that is down",
            messages: [Make.link(2, "eth0", isUp: false), Make.address(2), Make.route(over: 2)],
            isNetwork: false,
            text: "default route over eth0 (IPv4), which is down"
        ),
        Listing(
            testDescription: "no address",
            messages: [Make.link(2, "eth0"), Make.route(over: 2)],
            isNetwork: false,
            text: "default route over eth0 (IPv4), which has no address yet"
        ),
        Listing(
            testDescription: "an address that is still being tried",
            messages: [
                Make.link(2, "eth0"), Make.address(2, family: 10, flags: 0x40),
                Make.route(over: 2, family: 10),
            ],
            isNetwork: false,
            text: "default route over eth0 (IPv6), which has no address yet"
        ),
        Listing(
            testDescription: "an address that another machine has",
            messages: [
                Make.link(2, "eth0"), Make.address(2, family: 10, flags: 0x88),
                Make.route(over: 2, family: 10),
            ],
            isNetwork: false,
            text: "default route over eth0 (IPv6), which has no address yet"
        ),
        Listing(
            testDescription: "the link's own address only",
            messages: [
                Make.link(2, "eth0"), Make.address(2, family: 10, scope: 253),
                Make.route(over: 2, family: 10),
            ],
            isNetwork: false,
            text: "default route over eth0 (IPv6), which has no address yet"
        ),
        Listing(
            testDescription: "an address of the other family",
            messages: ethernet + [Make.route(over: 2, family: 10)],
            isNetwork: false,
            text: "default route over eth0 (IPv6), which has no address yet"
        ),
        Listing(
            testDescription: "IPv6 alone",
            messages: [
                Make.link(2, "eth0"), Make.address(2, family: 10), Make.route(over: 2, family: 10),
            ],
            isNetwork: true,
            text: "default route over eth0 (IPv6)"
        ),
        Listing(
            testDescription: "the better way is closed",
            messages: ethernet + [
                Make.link(3, "wlan0", isUp: false), Make.address(3),
                Make.route(over: 2, metric: 600), Make.route(over: 3, metric: 100),
            ],
            isNetwork: true,
            text: "default route over eth0 (IPv4)"
        ),
        Listing(
            testDescription: "a way that names another link's address",
            messages: [
                Make.link(2, "eth0"),
                Make.route(over: 2, more: Make.attribute(7, [192, 0, 2, 1])),
            ],
            isNetwork: true,
            text: "default route over eth0 (IPv4)"
        ),
        Listing(
            testDescription: "several hops, of which one leads on",
            messages: ethernet + [
                Make.link(3, "eth1"), Make.address(3),
                Make.route(
                    over: nil,
                    more: Make.attribute(9, Make.hop(2, flags: 0x11) + Make.hop(3))
                ),
            ],
            isNetwork: true,
            text: "default route over eth1 (IPv4)"
        ),
        Listing(
            testDescription: "a dead way",
            messages: ethernet + [Make.route(over: 2, flags: 0x10)],
            isNetwork: false,
            text: "default route over eth0 (IPv4), which is down"
        ),
        Listing(
            testDescription: "a way that turns all away, and one of another table",
            messages: ethernet + [
                Make.route(over: nil, kind: 7), Make.route(over: 2, table: 1000),
            ],
            isNetwork: false,
            text: "no default route"
        ),
        Listing(
            testDescription: "a link that is not listed",
            messages: [Make.route(over: 9)],
            isNetwork: false,
            text: "default route over link 9 (IPv4), which is down"
        ),
    ]

    @Test(arguments: listings) func `A listing is judged`(listing: Listing) throws {
        var table = NetworkTable()
        for message in listing.messages { try table.add(message) }
        let reading = table.network(source: "test")
        #expect(reading.measure == .state(listing.isNetwork))
        #expect(reading.text == listing.text)
        // All in one packet says the same.
        var again = NetworkTable()
        try again.add(listing.messages.flatMap { $0 })
        #expect(again == table)
    }

    @Test(
        arguments: [
            (nil, FactMeasure.unknown), ([], .state(true)), (["wwan0"], .state(true)),
            (["eth0"], .state(false)), (["wwan*", "et*"], .state(false)), (["*"], .state(false)),
            (["eth"], .state(true)),
        ] as [([String]?, FactMeasure)]
    )
    func `A metered link is named`(metered: [String]?, measure: FactMeasure) throws {
        var table = NetworkTable()
        try table.add((Self.ethernet + [Make.route(over: 2)]).flatMap { $0 })
        #expect(table.unmetered(metered, source: "test").measure == measure)
    }

    @Test func `Without a way out nothing is known of its price`() {
        #expect(NetworkTable().unmetered(["eth0"], source: "test").measure == .unknown)
    }

    // MARK: Bytes that are not what they say they are

    private static let whole =
        (ethernet + [
            Make.route(over: 2, more: Make.attribute(9, Make.hop(2) + Make.hop(3)))
        ]).flatMap { $0 }

    @Test func `A truncated table is refused or has fewer entries`() throws {
        for count in 0..<Self.whole.count {
            var table = NetworkTable()
            do throws(NetlinkError) {
                try table.add(Array(Self.whole.prefix(count)))
                // Cut between messages, or where a message's padding or a stub of a header is left.
                #expect(table.network(source: "").measure == .state(false), "\(count)")
            } catch {
                #expect(error == .badLength || error == .truncated)
            }
        }
    }

    @Test(arguments: [
        (Make.bytes(UInt32(15)) + [UInt8](repeating: 0, count: 12), NetlinkError.badLength),
        (Make.bytes(UInt32(0)) + [UInt8](repeating: 0, count: 12), .badLength),
        (Make.bytes(UInt32.max) + [UInt8](repeating: 0, count: 12), .badLength),
        (Make.message(16, []), .truncated),
        (Make.message(16, [UInt8](repeating: 0, count: 15)), .truncated),
        (Make.message(20, [UInt8](repeating: 0, count: 7)), .truncated),
        (Make.message(24, [UInt8](repeating: 0, count: 11)), .truncated),
        (
            Make.message(16, [UInt8](repeating: 0, count: 16) + Make.bytes(UInt32(3))),
            .badLength
        ),
        (
            Make.message(16, [UInt8](repeating: 0, count: 16) + Make.bytes(UInt32(0xFFFF))),
            .badLength
        ),
        (Make.route(over: nil, more: Make.attribute(4, [1, 2])), .truncated),
        (Make.route(over: nil, more: Make.attribute(9, Make.bytes(UInt64(7)))), .badLength),
        (Make.route(over: nil, more: Make.attribute(9, Make.bytes(UInt64(9)))), .badLength),
    ])
    func `Lengths that lie are refused`(bytes: [UInt8], error: NetlinkError) {
        var table = NetworkTable()
        #expect(throws: error) { try table.add(bytes) }
    }

    @Test(arguments: SeededGenerator.seeds(8)) func `No bytes trap`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3000 {
            var bytes = Self.whole
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
                    in: 0...255,
                    using: &random
                )
            }
            var table = NetworkTable()
            try? table.add(bytes)
            _ = table.network(source: "")
            _ = table.unmetered(["*"], source: "")
        }
    }
}
