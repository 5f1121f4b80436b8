// SPDX-License-Identifier: Apache-2.0

import BghostLinux
import BghostModel
import BghostTestSupport
import Glibc
import Testing

/// Links on the way to what is granted.
@Suite(.timeLimit(.minutes(5))) struct WritableTreesTests {
    /// A folder `w` that a plugin may write, one with releases of the operator, and one with a secret.
    private func house() throws -> TemporaryDirectory {
        let all = try TemporaryDirectory()
        for name in ["w", "w/in", "secret", "v1", "data", "data/a", "elsewhere"] {
            #expect(mkdir(all.file(name), 0o700) == 0)
        }
        for name in ["w/in/text", "secret/text", "v1/text", "w/text"] {
            try all.write("text", to: name)
        }
        for (link, target) in [
            ("current", "v1"), ("absolute", all.file("v1")), ("around", "w"), ("loop", "loop"),
            ("w/planted", "../secret"), ("w/inside", "in"), ("data/b", all.file("elsewhere")),
            ("data/a/planted", "../../secret"), ("elsewhere/planted", "../secret"),
        ] {
            #expect(symlink(target, all.file(link)) == 0)
        }
        return all
    }

    private func code(_ trees: WritableTrees, _ path: String) -> Int32 {
        switch trees.open(path, O_RDONLY) {
        case .success(let fd):
            close(fd)
            return 0
        case .failure(let error): return error.code
        }
    }

    @Test(arguments: [
        ("current/text", 0), ("absolute/text", 0), ("around/in/text", 0), ("w/in/text", 0),
        ("./current//../v1/text", 0), ("current", 0), ("data/b", 0), ("data/a", 0),
        ("w/planted/text", ELOOP), ("w/planted", ELOOP), ("around/planted/text", ELOOP),
        ("w/inside/text", ELOOP), ("w/in/../planted/text", ELOOP),
        ("data/a/planted/text", ELOOP), ("data/b/planted/text", ELOOP), ("loop", ELOOP),
        ("nowhere", ENOENT), ("current/nowhere", ENOENT), ("current/text/..", ENOTDIR),
    ])
    func `Links of the operator are followed, links of plugins are not`(
        path: String,
        expected: Int32
    ) throws {
        let all = try house()
        let trees = WritableTrees([all.file("w")], dataFolder: all.file("data"))
        #expect(code(trees, all.file(path)) == expected)
        // The folder is the same one, however the manifest names it.
        let linked = WritableTrees([all.file("around/")], dataFolder: all.file("data"))
        #expect(code(linked, all.file(path)) == expected)
    }

    @Test func `Where no plugin may write every link is followed`() throws {
        let all = try house()
        #expect(code(WritableTrees(), all.file("w/planted/text")) == 0)
        let elsewhere = WritableTrees([all.file("secret")], dataFolder: all.file("nowhere"))
        #expect(code(elsewhere, all.file("w/planted/text")) == 0)
    }

    @Test func `A resolved path has no links`() throws {
        let all = try house()
        let trees = WritableTrees([all.file("w")])
        let base = try WritableTrees().resolved(all.path)
        #expect(try trees.resolved(all.file("current/../absolute/./text")) == base + "/v1/text")
        #expect(try trees.resolved("/") == "/")
        #expect(try trees.resolved("/../..") == "/")
        #expect(throws: SystemError.self) { try trees.resolved(all.file("w/planted")) }
    }

    @Test func `A file is opened exactly, below links of the operator only`() throws {
        let all = try house()
        let trees = WritableTrees([all.file("w")])
        close(try ConfinedFile.open(all.file("current/text"), among: trees).get())
        close(try ConfinedFile.open("text", below: all.file("current"), among: trees).get())
        for path in ["w/planted/text", "w/planted"] {
            #expect(throws: SystemError.self) {
                try ConfinedFile.open(all.file(path), among: trees).get()
            }
        }
        #expect(throws: SystemError.self) {
            try ConfinedFile.open("text", below: all.file("w/planted"), among: trees).get()
        }
    }

    @Test func `Folders inside others are not listed`() {
        let trees = WritableTrees(
            ["/w/in/p", "/w/", "/w", "/wide", "/s/data/a/x", "/s/data", "/w/../x"],
            dataFolder: "/s/data"
        )
        #expect(trees.granted == ["/s/data", "/w", "/w/../x", "/wide"])
        #expect(WritableTrees(["/", "/w"]).granted == ["/"])
        var manifest = Manifest()
        manifest.plugins = [
            PluginDefinition(name: "a", library: "/a", permissions: Permissions(write: ["/w"]))
        ]
        #expect(WritableTrees(manifest, dataFolder: nil) == WritableTrees(["/w"]))
    }

    @Test(arguments: [
        ("/a/b", "/a/b"), ("/a//b/", "/a/b"), ("/a/./b/../c", "/a/c"), ("/..", "/"), ("/", "/"),
        ("/a/.b", "/a/.b"),
    ])
    func `A plain path has no empty parts`(path: String, plain: String) {
        #expect(PlainPath.of(path) == plain)
    }

    @Test(arguments: [
        ("/a", "/a", true), ("/a/b", "/a", true), ("/ab", "/a", false), ("/a", "/a/b", false),
        ("/a", "/", true),
    ])
    func `A path is inside its folder`(path: String, folder: String, isInside: Bool) {
        #expect(PlainPath.isInside(path, folder) == isInside)
    }
}
