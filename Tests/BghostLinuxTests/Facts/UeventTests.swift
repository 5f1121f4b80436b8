// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5))) struct UeventTests {
    private static let change =
        "change@/devices/AC\0ACTION=change\0SUBSYSTEM=power_supply\0SEQNUM=1\0"

    @Test(arguments: [
        (change, true),
        ("SUBSYSTEM=power_supply", true),
        ("change@/devices/AC\0SUBSYSTEM=net\0", false),
        ("change@/SUBSYSTEM=power_supply\0", false),
        ("SUBSYSTEM=power_supply2\0", false),
        ("XSUBSYSTEM=power_supply\0", false),
        ("", false),
        ("\0\0\0", false),
    ])
    func `A field is found`(message: String, isThere: Bool) {
        let field = Array("SUBSYSTEM=power_supply".utf8)
        #expect(Uevents.message(Array(message.utf8), has: field) == isThere)
    }

    private static let canTrigger = access("/sys/class/net/lo/uevent", W_OK) == 0

    @Test(.enabled(if: canTrigger, "needs root")) func `The kernel's events arrive`() throws {
        let ours = try Uevents(subsystem: "net")
        let others = try Uevents(subsystem: "power_supply")
        #expect(ours.drain() == .nothing)
        try File.write(Array("change".utf8), to: "/sys/class/net/lo/uevent")
        Program.wait(for: ours.fd)
        #expect(ours.drain() == .wanted)
        Program.wait(for: others.fd)
        #expect(others.drain() == .nothing)
    }
}
