// SPDX-License-Identifier: Apache-2.0

@testable import BghostFacts
@testable import BghostLinux
import BghostTestSupport
import Glibc
import Testing

@Suite(.timeLimit(.minutes(5))) struct FreeSpaceTests {
    @Test func `A folder is measured`() throws {
        let folder = try TemporaryDirectory()
        let reading = FreeSpace.read(folder.path)
        guard case .space(let percent, let bytes) = reading.measure else {
            Issue.record("\(reading)")
            return
        }
        var info = statvfs()
        #expect(statvfs(folder.path, &info) == 0)
        let total = UInt64(info.f_blocks) * UInt64(info.f_frsize)
        #expect((0...100).contains(percent))
        #expect(bytes <= total)
        #expect(reading.source == folder.path)
        #expect(reading.text.hasPrefix("free=\(Int(percent))% "))
    }

    @Test(arguments: ["/proc", "/no/such/folder"]) func `A folder without a size is unknown`(
        path: String
    ) {
        let reading = FreeSpace.read(path)
        #expect(reading.measure == .unknown)
        #expect(!reading.text.isEmpty)
    }
}
