// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

/// What `bghost plugin install`, `update` and `remove` leave alone, and what they mend.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(10))) struct BundleSafetyTests {
    private let shop: BundleShop
    private let trust: [String]

    init() async throws {
        shop = try await BundleShop()
        trust = ["--key", shop.path("acme.pub")]
    }

    private func install(_ bundle: String, _ arguments: [String] = []) throws -> Command.Result {
        try shop.operate(
            ["plugin", "install", shop.path(bundle), "--yes"] + trust + arguments
        )
    }

    private func update(_ bundle: String) throws -> Command.Result {
        try shop.operate(["plugin", "update", shop.path(bundle), "--yes"])
    }

    /// The author of the bundle chose its name, and the operator the folder.
    @Test func `A folder that no bundle made stays as it is`() async throws {
        let bundle = try await shop.bundle("0.1.0")
        let made = try Command.run(["mkdir", "-p", shop.host.file("home/photos/src")])
        try #require(made.exitCode == 0)
        let file = try shop.host.write("precious", to: "home/photos/src/a")
        let refused = try install(bundle, ["--folder", shop.host.file("home")])
        #expect(refused.exitCode == 1, "\(refused.output)\(refused.error)")
        #expect(refused.error.contains("no bundle of this manifest has made it"))
        #expect(refused.error.contains("name another folder with --folder"), "\(refused.error)")
        #expect(!refused.output.contains("It handles"), "it is refused before the question")
        #expect(try File.read(file) == Array("precious".utf8))
        #expect(try File.list(shop.host.file("home/photos")) == ["src"])
        #expect(try shop.operate(["plugin", "list"]).output == "no bundle is installed\n")
    }

    @Test func `A manifest that changed during the question is checked again`() async throws {
        let bundle = try await shop.bundle("0.1.0")
        let own = #"{"plugin": "own", "handler": "primes"}"#
        try shop.host.write(
            """
            {"version": 1, "plugins": {"own": {"library": "\(shop.path("photos/libphotos.so"))"}},
            "tasks": {"org.example.photos.primes": \(own)}}
            """,
            to: "later.json"
        )
        let refused = try await shop.onTerminal(
            ["plugin", "install", shop.path(bundle)] + trust,
            answer: "y",
            meanwhile: "cp \(shop.host.file("later.json")) \(shop.manifest)"
        )
        #expect(refused.exitCode == 78, "\(refused.output)")
        #expect(refused.output.contains("the manifest cannot have photos 0.1.0"))
        #expect(try shop.operate(["check", "--dev"]).exitCode == 0)
        #expect(try File.list(shop.host.file("plugins")) == [])
    }

    @Test func `A signer that was taken out during the question is not trusted`() async throws {
        let bundle = try await shop.bundle("0.1.0")
        let key = try #require(
            String(decoding: File.read(shop.path("acme.pub")), as: UTF8.self)
                .split(separator: "\n").last
        )
        try shop.host.write(
            #"{"version": 1, "signers": {"acme": {"key": "\#(key)"}}}"#,
            to: "tasks.json"
        )
        try shop.host.write(#"{"version": 1}"#, to: "later.json")
        let refused = try await shop.onTerminal(
            ["plugin", "install", shop.path(bundle)],
            answer: "y",
            meanwhile: "cp \(shop.host.file("later.json")) \(shop.manifest)"
        )
        #expect(refused.exitCode == 77, "\(refused.output)")
        #expect(refused.output.contains("which is not trusted here"), "\(refused.output)")
        #expect(try shop.operate(["plugin", "list"]).output == "no bundle is installed\n")
    }

    @Test func `An update installs missing and changed files again`() async throws {
        let bundle = try await shop.bundle("0.1.0")
        #expect(try install(bundle).exitCode == 0)
        let entry = try shop.installed()
        let folder = shop.host.file(try #require(entry["folder"]?.string))
        let library = "\(folder)/\(entry["library"]?.string ?? "")"
        for damage in [
            "rm \(library)", "echo >\(library)", "rm -r \(folder)", "rm \(folder)/README.md",
        ] {
            try #require(Command.run(["sh", "-c", damage]).exitCode == 0)
            let mended = try update(bundle)
            #expect(mended.exitCode == 0, "\(damage): \(mended.output)\(mended.error)")
            #expect(mended.output.contains("photos 0.1.0 is installed"), "\(mended.output)")
            #expect(try shop.installed()["problem"]?.isNull == true)
            #expect(access("\(folder)/README.md", F_OK) == 0)
        }
        #expect(try update(bundle).output.contains("was installed already"))
    }

    @Test func `A plugin that an operator overrides can be updated`() async throws {
        let bundles = [try await shop.bundle("0.1.0"), try await shop.bundle("0.2.0")]
        let third = try await shop.bundle("0.3.0")
        #expect(try install(bundles[0]).exitCode == 0)
        func override() throws {
            let entry = try shop.installed()
            let library = "\(entry["folder"]?.string ?? "")/\(entry["library"]?.string ?? "")"
            try shop.host.write(
                """
                {"plugins": {"photos": {"override": true, "library": "\(library)",
                "sha256": "\(entry["sha256"]?.string ?? "")", "permissions": {"notify": true}}}}
                """,
                to: "tasks.d/z-own.json"
            )
        }
        try override()
        for bundle in [bundles[1], third] {
            let updated = try update(bundle)
            #expect(updated.exitCode == 0, "\(updated.output)\(updated.error)")
            let text = "An `override` of photos names another library"
            #expect(updated.output.contains(text), "\(updated.output)")
            // What the override names is still there.
            let checked = try shop.operate(["check"])
            #expect(checked.exitCode == 0, "\(checked.output)\(checked.error)")
        }
        #expect(try shop.installed()["version"]?.string == "0.3.0")
        try override()
        let same = try update(bundles[1])
        #expect(same.exitCode == 0, "\(same.output)\(same.error)")
    }

    @Test func `Another user can read what is installed, whatever the umask`() async throws {
        let bundle = try await shop.bundle("0.1.0")
        let installed = try await shop.author(
            """
            umask 077; bghost plugin install \(bundle) --key acme.pub --yes \
            --config \(shop.manifest)
            """
        )
        #expect(installed.exitCode == 0, "\(installed.output)\(installed.error)")
        let folders = [shop.host.file("tasks.d"), shop.host.file("plugins")]
        let closed = try Command.run(
            ["find"] + folders + ["-not", "-name", ".bundles.lock", "-not", "-perm", "-444"]
        )
        #expect(closed.output == "", "\(closed.output)")
        let shut = try Command.run(["find"] + folders + ["-type", "d", "-not", "-perm", "755"])
        #expect(shut.output == "", "\(shut.output)")
    }

    @Test func `pack and sign replace regular files only, and keep links and permissions`()
        async throws
    {
        let bundle = try await shop.bundle("0.1.0", isSigned: false)
        let fifo = shop.path("fifo")
        try #require(mkfifo(fifo, 0o600) == 0)
        let refused = try await shop.author("bghost plugin pack photos -o fifo")
        #expect(refused.exitCode == 1, "\(refused.output)\(refused.error)")
        #expect(refused.error.contains("it is no regular file"), "\(refused.error)")
        #expect(try Command.run(["stat", "--format=%F", fifo]).output == "fifo\n")
        let signed = try await shop.author(
            """
            chmod 600 \(bundle); ln -s \(bundle) link.bghost
            bghost plugin sign link.bghost --key acme && stat --format='%F %a' link.bghost \(bundle)
            """
        )
        #expect(signed.exitCode == 0, "\(signed.output)\(signed.error)")
        #expect(signed.output.contains("symbolic link"), "\(signed.output)")
        #expect(signed.output.hasSuffix("regular file 600\n"), "\(signed.output)")
        let verified = try await shop.author("bghost plugin verify \(bundle) --key acme.pub")
        #expect(verified.exitCode == 0, "\(verified.output)\(verified.error)")
    }

    @Test func `A missing bundle is a missing file`() async throws {
        for command in ["verify", "install"] {
            let missing = try await shop.author("bghost plugin \(command) none.bghost")
            #expect(missing.exitCode == 66, "\(missing.output)\(missing.error)")
        }
    }

    /// Readers of the bundle would take it for what the daemon checks.
    @Test(arguments: [
        ("{0, 0}", "is for handler h, which has no schema in the library"),
        (#"BG_LIT("{\"if\": {}}")"#, "that of handler h in the library cannot be used"),
    ])
    func `A schema that the daemon does not check is not packed`(
        schema: String,
        text: String
    ) async throws {
        try shop.folder.write(
            """
            #include <bghost.h>
            BG_NOTE("abi=1.0;id=org.example.x;runtime=c;params=checked");
            static bg_status run(void *p, const bg_run_info *i) { (void)p; (void)i; return BG_OK; }
            static const bg_task task = {sizeof task, 0, BG_LIT("h"), \(schema), run, 0, 0};
            static const bg_task *const tasks[] = {&task};
            static const bg_plugin me = {sizeof me, 1, 0, BG_LIT("org.example.x"), BG_LIT("1.0.0"),
                                         BG_LIT("E"), 0, 1, tasks, 0, 0, 0};
            const bg_plugin *bghost_plugin_v1(const bg_host *g) { (void)g; return &me; }
            """,
            to: "x.c"
        )
        try shop.folder.write(#"{"required": ["a"]}"#, to: "x.json")
        let packed = try await shop.author(
            """
            cc -std=c11 -shared -fPIC -I"$(bghost sdk --include)" -o x.so x.c
            bghost plugin pack x.so --schema h=x.json
            """
        )
        #expect(packed.exitCode == 1, "\(packed.output)\(packed.error)")
        #expect(packed.error.contains("schemas/h.json"), "\(packed.error)")
        #expect(packed.error.contains(text), "\(packed.error)")
    }
}
