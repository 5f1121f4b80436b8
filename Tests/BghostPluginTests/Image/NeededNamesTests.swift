// SPDX-License-Identifier: Apache-2.0

import BghostPlugin
import BghostTestSupport
import Testing

/// What is read of a library that a plugin needs, and how much of it.
@Suite(.ownThreads) struct NeededNamesTests {
    @Test func `Reads names and folders`() throws {
        let flags = ["-Wl,-soname,libown.so.1", "-Wl,-rpath,$ORIGIN/deep:/srv/lib::relative:"]
        let path = try Fixture.library("good", flags: flags)
        let needs = try NeededNames(path: path, budget: ImageBudget(time: 3_600_000_000_000))
        let folder = path.split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 }
        #expect(needs.soname == "libown.so.1")
        #expect(needs.folders == [folder + "/deep", "/srv/lib", ".", "relative"])
        #expect(needs.names == (try PluginImage.inspect(path: path)).needed)
    }

    @Test func `Symbols cost nothing`() throws {
        let path = try Fixture.library("many-symbols")
        // Of 45 MB; the headers of its sections alone are more than its symbols may cost here.
        let budget = ImageBudget(bytes: 16 << 10)
        let needs = try NeededNames(path: path, budget: budget)
        #expect(needs.folders.isEmpty)
        #expect(!budget.isSpent)
    }

    @Test func `More symbols than a plugin may have are refused`() throws {
        let path = try Fixture.library("many-symbols")
        let error = #expect(throws: ImageError.self) { try PluginImage.inspect(path: path) }
        #expect(error?.code == "malformed")
    }

    @Test func `A budget of bytes is for all files of an inspection`() throws {
        let path = try Fixture.library("good")
        let budget = ImageBudget(bytes: 64 << 10)
        var looks = 0
        let error = #expect(throws: ImageError.self) {
            while true {
                _ = try PluginImage.inspect(path: path, budget: budget)
                looks += 1
            }
        }
        #expect(error?.problem == .overBudget)
        #expect(looks > 0 && looks < 64)
        #expect(error?.description.contains("takes too long to look at") == true)
    }

    @Test func `A budget of time ends`() throws {
        let path = try Fixture.library("good")
        let budget = ImageBudget(time: 0)
        #expect(budget.isSpent)
        let error = #expect(throws: ImageError.self) {
            try PluginImage.inspect(path: path, budget: budget)
        }
        #expect(error?.problem == .overBudget)
    }
}
