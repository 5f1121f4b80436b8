// SPDX-License-Identifier: Apache-2.0

@testable import BghostLinux
import BghostTestSupport
import Synchronization
import Testing

@Suite struct SystemZonesTests {
    @Test func `Reads what the system has`() throws {
        let zones = SystemZones { _, bytes in bytes }
        let names = zones.names()
        #expect(names.count > 500)
        #expect(names == names.sorted() && Set(names).count == names.count)
        for name in ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+12"] {
            #expect(names.contains(name))
            #expect(try zones.zone(name).starts(with: "TZif".utf8))
        }
        #expect(!names.contains { $0.hasPrefix("right/") || $0.hasPrefix("posix") })
        let version = zones.version()
        #expect(version == "unknown" || version.hasPrefix("20"), "\(version)")
    }

    @Test(arguments: [
        "", ".", "..", "../../etc/passwd", "Europe/../../../etc/passwd", "/etc/localtime",
        "Europe//Berlin", "Europe/", "/", "Europe/Berlin\0", "\0", "Europe Berlin", ".hidden",
        "Europe/.hidden", "Europe\\Berlin", "Zürich", "Europe/Berlin\n", "%s",
    ])
    func `Refuses paths outside the database`(name: String) {
        let zones = SystemZones { _, bytes in bytes }
        #expect(throws: ZoneFileError.badName) { try zones.zone(name) }
    }

    @Test func `Refuses long names`() {
        let zones = SystemZones { _, bytes in bytes }
        for count in [129, 1 << 20] {
            let name = String(repeating: "a", count: count)
            #expect(throws: ZoneFileError.badName) { try zones.zone(name) }
        }
    }

    @Test(arguments: ["Europe/Berln", "Europe", "Europe/Berlin/Mitte", "utc2"])
    func `Says what is not there`(name: String) {
        let zones = SystemZones { _, bytes in bytes }
        #expect(throws: ZoneFileError.notFound) { try zones.zone(name) }
    }

    @Test func `Knows UTC without a database`() throws {
        let folder = try TemporaryDirectory()
        for directory in [folder.path, folder.file("missing")] {
            let zones = SystemZones(directory: directory) { _, bytes in bytes }
            for name in ["UTC", "Etc/UTC"] {
                let bytes = try zones.zone(name)
                #expect(bytes.starts(with: "TZif2".utf8))
                #expect(bytes.suffix(6).elementsEqual("\nUTC0\n".utf8))
                #expect(bytes.count == 2 * (44 + 6 + 4) + 6)
            }
            #expect(zones.names() == ["UTC"])
            #expect(zones.version() == "unknown")
            #expect(throws: ZoneFileError.noDatabase(directory: directory)) {
                try zones.zone("Europe/Berlin")
            }
        }
    }

    @Test func `Reads each zone once`() throws {
        let folder = try TemporaryDirectory()
        try folder.write("TZif one", to: "One")
        let count = Mutex(0)
        let zones = SystemZones(directory: folder.path) { name, bytes in
            count.withLock { $0 += 1 }
            return name + " " + String(decoding: bytes, as: UTF8.self)
        }
        for _ in 0..<3 { #expect(try zones.zone("One") == "One TZif one") }
        #expect(count.withLock { $0 } == 1)
        #expect(zones.names() == ["One", "UTC"])
    }

    /// The cache keeps no file that it cannot parse, so that a repaired file is read.
    @Test func `Passes on what the parser throws`() throws {
        struct Refusal: Error {}
        let folder = try TemporaryDirectory()
        try folder.write("no zone", to: "Bad")
        let zones = SystemZones<Int>(directory: folder.path) { _, _ in throw Refusal() }
        #expect(throws: Refusal.self) { try zones.zone("Bad") }
        #expect(zones.names() == ["UTC"])
    }

    @Test func `Reads the version`() throws {
        let folder = try TemporaryDirectory()
        let zones = SystemZones(directory: folder.path) { _, bytes in bytes }
        for (text, version) in [
            ("# version 2025b\n# more", "2025b"), ("# version 2026a", "2026a"), ("", "unknown"),
            ("# version \u{1B}[2J\n", "unknown"), ("# something else\n", "unknown"),
        ] {
            try folder.write(text, to: "tzdata.zi")
            #expect(zones.version() == version)
        }
    }
}
