// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostPlugin
import BghostTestSupport
import CBghost
import Testing

/// All hosts know the extensions of the header, with all of their functions.
@Suite struct ExtensionTests {
    /// An extension of the header: its macro, its name and its functions.
    private struct Extension {
        var macro: String
        var name: String
        var functions: [String]
    }

    private static func text(_ path: String) throws -> String {
        String(decoding: try File.read("\(PackageRoot.path)/\(path)"), as: UTF8.self)
    }

    private static func header() throws -> [Extension] {
        let parts = try text("SDK/Sources/CBghost/include/bghost.h")
            .split(separator: "#define BG_EXT_").dropFirst()
        return try parts.map { part in
            let line = try #require(part.firstMatch(of: /^([A-Z]+) "([^"]+)"/))
            // The last struct before the next extension that has functions is the table.
            let functions = part.matches(of: /\n  bg_status \(\*([a-z_]+)\)\(const bg_host/)
            return Extension(
                macro: "BG_EXT_" + line.1,
                name: String(line.2),
                functions: functions.map { String($0.1) }
            )
        }
    }

    @Test func `Each extension of the header is known`() throws {
        let names = try Self.header().map(\.name)
        #expect(names.sorted() == HostExtension.allCases.map(\.rawValue).sorted())
        let page = try Self.text("docs/ABI.md")
        for name in names { #expect(page.contains("`\(name)`"), "docs/ABI.md: \(name)") }
    }

    /// A function that the table of a worker lacks would be a null pointer.
    @Test func `Workers fill each table`() throws {
        for known in try Self.header() {
            let name = try #require(HostExtension(rawValue: known.name))
            #expect(known.functions.isEmpty == false, "\(known.name)")
            let table = try #require(ExtensionTables.shared[name])
            // Size and a reserved field, then one pointer for each function.
            let size = Int(table.load(as: UInt32.self))
            #expect(size == 8 + 8 * known.functions.count, "\(known.name)")
            for (index, function) in known.functions.enumerated() {
                let pointer = table.load(fromByteOffset: 8 + 8 * index, as: UInt.self)
                #expect(pointer != 0, "\(known.name): \(function)")
            }
        }
    }

    /// `bghost plugin check` would miss the calls of a function that it does not watch.
    @Test func `The check watches each function`() throws {
        let source = try Self.text("Sources/BghostCheck/Stage/ExtensionWatch.swift")
        for known in try Self.header() where known.name != HostExtension.clock.rawValue {
            for function in known.functions {
                let call = "ExtensionWatch.pass(\(known.macro), \"\(function)\""
                #expect(source.contains(call), "\(call)")
            }
        }
    }
}
