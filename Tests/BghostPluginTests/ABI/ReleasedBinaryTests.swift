// SPDX-License-Identifier: Apache-2.0

@testable import BghostPlugin
import BghostTestSupport
import CBghost
import Testing

/// Plugins that were built against a released ABI and are kept as they were.
@Suite struct ReleasedBinaryTests {
    static let path = PackageRoot.path + "/Tests/Fixtures/Binaries/abi-1.0-x86_64.so"
    /// With the Swift runtime inside, and compressed.
    static let swift = PackageRoot.path + "/Tests/Fixtures/Binaries/abi-1.0-swift-x86_64.so.gz"

    #if arch(x86_64)
        @Test func `Loads plugin of ABI 1.0`() throws {
            let image = try PluginImage.inspect(path: Self.path)
            let note = try image.requireLoadable()
            #expect(note == PluginNote(abiMajor: 1, abiMinor: 0, id: "test.abi-1.0", runtime: "c"))
            #expect(image.extraExports == 0)
            #expect(image.concerns == [])

            let table = try EntryTable(path: Self.path)
            let plugin = try PluginDescriptor.read(table.pointer, note: note)
            #expect(plugin.version == "1.0.0")
            #expect(plugin.handlers.map(\.name) == ["succeed", "echo", "honour-cancel"])
            #expect(plugin.open != nil && plugin.drain == nil && plugin.close != nil)
            let stoppable = try #require(plugin.handler(named: "honour-cancel"))
            #expect(stoppable.flags == .serial)
            #expect(stoppable.cancel != nil && stoppable.release != nil)
            #expect(plugin.handler(named: "echo")?.parametersSchema == #"{"type":"object"}"#)
            #expect(plugin.handler(named: "succeed")?.start(nil, nil) == BG_OK)
        }

        /// Its table is read by a worker: `ThirdPartyTests`.
        @Test func `Loads plugin in Swift of ABI 1.0`() throws {
            let folder = try TemporaryDirectory()
            let library = folder.file("abi-1.0-swift.so")
            let unpacked = try Command.run(
                ["sh", "-c", #"gzip -dc "$1" >"$2""#, "sh", Self.swift, library]
            )
            try #require(unpacked.exitCode == 0, "\(unpacked.error)")
            let image = try PluginImage.inspect(path: library)
            let note = try image.requireLoadable()
            #expect(note.abiMajor == 1 && note.abiMinor == 0 && note.runtime == "swift")
            #expect(image.concerns == [])
            // It needs no runtime of the host, whose Swift may be another one.
            #expect(try Portability(path: library).otherLibraries == [])
        }
    #else
        @Test func `Refuses plugin of another machine`() throws {
            let error = #expect(throws: ImageError.self) {
                try PluginImage.inspect(path: Self.path)
            }
            #expect(error?.problem == .wrongMachine(found: 62))
        }
    #endif
}
