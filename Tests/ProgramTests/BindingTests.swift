// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Testing

/// `bghost.hpp` and `bghost.rs`: the ends of runs, the extensions, and the layout.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(10))) struct BindingTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private struct Row {
        var handler: String
        var outcome = "failed"
        var message = ""
        var result: String?
        /// The type of its error, and the end of its place.
        var error: (type: String, place: String)?
    }

    private static func rows(_ strange: String, error: (type: String, place: String), latin: Bool)
        -> [Row]
    {
        var rows = [
            Row(
                handler: "succeed",
                outcome: "succeeded",
                result: #"{"attempt":1,"task":"succeed"}"#
            ),
            Row(handler: "nothing", outcome: "succeeded"),
            Row(handler: "fail", message: "no luck", error: error),
            Row(handler: "fail-finally", message: "gone"),
            Row(handler: "retry", message: "busy"),
            // The host has not cancelled it.
            Row(handler: "cancelled", message: "cancelled"),
            Row(handler: "strange", message: strange),
            Row(handler: "too-long", message: "the result is too long"),
            Row(handler: "not-json", message: "the result is not JSON"),
            Row(handler: "refused", message: "submit: status -13"),
            Row(handler: "every", outcome: "succeeded", result: "true"),
        ]
        // Texts of Rust are UTF-8.
        let message = "the message of the error is not UTF-8"
        if latin { rows.append(Row(handler: "latin", message: message)) }
        return rows
    }

    @Test func `Exceptions and results of C++ end runs, and every extension answers`() throws {
        let source = PackageRoot.path + "/Tests/Fixtures/Bindings/ends.cc"
        let strange = "an exception that is no std::exception"
        try check(
            Cxx.library(source, in: folder),
            Self.rows(strange, error: ("std::runtime_error", ":0"), latin: true)
        )
    }

    @Test func `Errors and panics of Rust end runs, and every extension answers`() async throws {
        for file in ["Tests/Fixtures/Bindings/ends.rs", "Examples/rust/bghost.rs"] {
            _ = try Command.run(["cp", "\(PackageRoot.path)/\(file)", folder.path])
        }
        let library = try await Rust.library(folder.file("ends.rs"), in: folder)
        try check(
            library,
            Self.rows("panic: oh no", error: ("std::io::error::Error", "ends.rs:26"), latin: false)
        )
    }

    private static let kept = [
        Row(handler: "succeed", outcome: "succeeded"),
        Row(handler: "every", outcome: "succeeded", result: "true"),
    ]

    @Test func `C++ of the next minor needs of a table what it calls`() throws {
        try folder.write(NextMinor.header(), to: "bghost.h")
        _ = try Command.run(["cp", Fixture.include + "/bghost.hpp", folder.path])
        let source = PackageRoot.path + "/Tests/Fixtures/Bindings/ends.cc"
        let options = ["-Wno-missing-field-initializers"]
        try check(
            Cxx.library(source, include: folder.path, options: options, in: folder),
            Self.kept
        )
    }

    @Test func `Rust of the next minor needs of a table what it calls`() async throws {
        let bindings = try NextMinor.rust()
        try #require(bindings.matches(of: /pub later: usize/).count == 12)
        try folder.write(bindings, to: "bghost.rs")
        _ = try Command.run([
            "cp", "\(PackageRoot.path)/Tests/Fixtures/Bindings/ends.rs", folder.path,
        ])
        try check(try await Rust.library(folder.file("ends.rs"), in: folder), Self.kept)
    }

    private func check(_ library: String, _ rows: [Row]) throws {
        let server = try FileServer(Array(repeating: 1, count: 1000))
        defer { server.close() }
        let limits = #"{"runtime": "5m", "grace": "30s"}"#
        let tasks = rows.map { #""\#($0.handler)": {"plugin": "e", "limits": \#(limits)}"# }
        let manifest = try folder.write(
            """
            {"version": 1,
             "plugins": {"e": {"library": "\(library)", "config": {"of":true},
                               "permissions": {"network": ["\(server.grant)"], "notify": true}}},
             "sessions": {"s": {"plugin": "e", "launchEvents": false}},
             "notifications": {"task": "sink.*"},
             "tasks": {"sink.*": {"plugin": "e", "handler": "nothing"},
                       \(tasks.joined(separator: ",\n"))}}
            """,
            to: "tasks.json"
        )
        let daemon = try TestDaemon(manifest: manifest, folder: folder, arguments: ["--dev"])
        let long = String(repeating: "x", count: 5000)
        let parameters = #"{"url":"\#(server.url)","long":"\#(long)"}"#
        for row in rows {
            let ran = try daemon.command([
                "trigger", row.handler, "--wait", "--json", "--parameters", parameters,
            ])
            let run = try #require(try JSONReader.parse(ran.output)["run"], "\(ran.output)")
            #expect(run["outcome"]?.string == row.outcome, "\(row.handler): \(run)")
            #expect(run["message"]?.string == row.message, "\(row.handler)")
            if let result = row.result { #expect(run["result"]?.text == result, "\(row.handler)") }
            if let wanted = row.error {
                let error = try #require(run["error"], "\(run)")
                #expect(error["type"]?.string == wanted.type, "\(error)")
                let place = "\(error["file"]?.string ?? ""):\(error["line"]?.text ?? "")"
                #expect(place.hasSuffix(wanted.place), "\(error)")
            }
        }
        #expect(daemon.stop() == 0)
    }

    /// Each size and offset that C asserts, and each number.
    @Test func `The layout of bghost.rs is that of the header`() throws {
        let path = PackageRoot.path + "/Tests/Fixtures/ABI/layout-1.0.c"
        let layout = String(decoding: try File.read(path), as: UTF8.self)
        var lines: [String] = []
        for match in layout.matches(of: /\nHOLDS\(sizeof\((bg_[a-z_]+)\) .= ([0-9]+)\);/) {
            // Of `bg_pending`, the layout has what it began with.
            let size = match.1 == "bg_pending" ? "160" : match.2
            lines.append("same(size_of::<\(match.1)>(), \(size), \"\(match.1)\");")
        }
        for match in layout.matches(of: /\nFIELD\((bg_[a-z_]+), ([a-z_]+), ([0-9]+)\);/) {
            lines.append(
                """
                let one = MaybeUninit::<\(match.1)>::uninit();
                let field = unsafe { addr_of!((*one.as_ptr()).\(match.2)) } as usize;
                same(field - one.as_ptr() as usize, \(match.3), "\(match.1).\(match.2)");
                """
            )
        }
        for match in layout.matches(of: /\nHOLDS\((BG_[A-Z_]+) == (-?[0-9a-fx]+)u?\);/)
        where match.1 != "BG_ABI_MAJOR" {
            lines.append("same(\(match.1) as i64, \(match.2), \"\(match.1)\");")
        }
        try #require(lines.count > 200)
        try folder.write(
            """
            #[path = "\(PackageRoot.path)/Examples/rust/bghost.rs"]
            #[allow(unused)]
            mod bghost;
            use bghost::raw::*;
            use std::mem::{size_of, MaybeUninit};
            use std::ptr::addr_of;

            fn same<T: PartialEq + std::fmt::Debug>(seen: T, wanted: T, what: &str) {
                if seen != wanted {
                    println!("{what}: {seen:?}, not {wanted:?}");
                }
            }

            fn main() {
            \(lines.joined(separator: "\n"))
            println!("compared");
            }

            """,
            to: "layout.rs"
        )
        let program = folder.file("layout")
        let built = try Command.run(
            [Rust.compiler, "--edition", "2021", folder.file("layout.rs"), "-o", program]
        )
        try #require(built.exitCode == 0, "\(built.error)")
        #expect(try Command.run([program]).output == "compared\n")
    }
}
