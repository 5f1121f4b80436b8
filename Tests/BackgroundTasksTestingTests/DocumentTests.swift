// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import Testing

struct DocumentTests {
    /// The example of the handbook is the one that is compiled and run here.
    @Test func `The handbook shows NewsExample`() throws {
        let folder = PackageRoot.path + "/Tests/BackgroundTasksTestingTests"
        let example = String(
            decoding: try File.read(folder + "/NewsExample.swift"),
            as: UTF8.self
        )
        // All but the licence line.
        let shown = example.split(separator: "\n", maxSplits: 1).last ?? ""
        let handbook = String(
            decoding: try File.read(PackageRoot.path + "/docs/HANDLERS.md"),
            as: UTF8.self
        )
        #expect(!shown.isEmpty)
        #expect(handbook.contains("```swift\n\(shown)```"), "docs/HANDLERS.md shows something else")
    }
}
