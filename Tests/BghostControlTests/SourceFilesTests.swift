// SPDX-License-Identifier: Apache-2.0

@testable import BghostPluginCommand
import Testing

/// What `bghost plugin run --watch` takes for a source, and how it runs a handler.
@Suite struct SourceFilesTests {
    @Test func `The command of a run has no options of the watch`() {
        let words = [
            "plugin", "run", "--watch", "d", "--build", "make -j", "--check", "h", "--build=x",
            "--json", "--", "--watch",
        ]
        #expect(
            PluginWatch.runWords(of: words) == [
                "plugin", "run", "d", "h", "--json", "--", "--watch",
            ]
        )
    }

    @Test func `What builds, tools and editors write is no source`() {
        for name in ["main.c", "Package.swift", "Makefile", "params.schema.json", "a.h"] {
            #expect(SourceFiles.have(name, isFolder: false), "\(name)")
        }
        let others = [
            "p.so", "a.o", ".main.c.swp", "main.c~", "4913", "#main.c#", "x.bghost", "deps.d",
            "new.tmp",
        ]
        for name in others { #expect(!SourceFiles.have(name, isFolder: false), "\(name)") }
        #expect(SourceFiles.have("Sources", isFolder: true))
        for name in [".build", ".git", "target", "build"] {
            #expect(!SourceFiles.have(name, isFolder: true), "\(name)")
        }
    }
}
