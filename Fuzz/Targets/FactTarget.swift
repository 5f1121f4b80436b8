// SPDX-License-Identifier: Apache-2.0

import BghostFacts
import BghostLinux

extension FuzzTarget {
    /// What the kernel's files and sockets say of the machine.
    static let facts = FuzzTarget("facts", bytesMax: 32 << 10) { bytes throws(BrokenProperty) in
        if let share = Pressure.share(in: bytes) {
            try require((0...100).contains(share), "\(share) per cent of the time")
        }
        if let load = Pressure.load(in: bytes) {
            try require(load >= 0 && load.isFinite, "a load of \(load)")
        }
        let field = Array("SUBSYSTEM=power_supply".utf8)
        if Uevents.message(bytes, has: field) {
            try require(bytes.count >= field.count, "a field that is longer than its message")
        }
        try checkNetwork(bytes)
    }

    private static func checkNetwork(_ bytes: [UInt8]) throws(BrokenProperty) {
        var table = NetworkTable()
        do throws(NetlinkError) {
            try table.add(bytes)
        } catch {
            // What came before the fault has been taken.
        }
        let network = table.network(source: "netlink")
        let unmetered = table.unmetered(["wwan*", "eth1"], source: "netlink")
        for reading in [network, unmetered] {
            try MessageText.check(reading.text, bytesMax: 64 << 10)
        }
        guard case .state = unmetered.measure else { return }
        try require(network.measure == .state(true), "the way out costs, and there is none")
    }
}
