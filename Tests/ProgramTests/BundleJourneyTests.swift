// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostBundle
import BghostTestSupport
import Glibc
import Testing

private let mayMount = (try? Command.run(["unshare", "--mount", "true"]).exitCode) == 0

/// The way of a plugin from its author to an operator's daemon, with the real programs, in folders
/// outside of the repository.
@Suite(.ownThreads, .serialized, .timeLimit(.minutes(10))) struct BundleJourneyTests {
    private let shop: BundleShop

    init() async throws { shop = try await BundleShop() }

    /// With consent, in a daemon: `GettingStartedTests`.
    @Test func `An update needs consent only if it asks for more or is older`() async throws {
        let first = try await shop.bundle("0.1.0")
        let key = ["--key", shop.path("acme.pub")]
        let installed = try shop.operate(["plugin", "install", shop.path(first), "--yes"] + key)
        #expect(installed.exitCode == 0, "\(installed.output)\(installed.error)")
        #expect(installed.output.contains("It handles the task org.example.photos.primes:"))
        // It asks for more, and there is no consent.
        let second = try await shop.bundle("0.2.0", plugin: #""permissions": {"notify": true}"#)
        let refused = try shop.operate(["plugin", "update", shop.path(second)])
        #expect(refused.exitCode == 77, "\(refused.output)\(refused.error)")
        #expect(refused.output.contains("  + notify: it posts notifications"))
        #expect(try shop.installed()["version"]?.string == "0.1.0")
        // On a terminal it is asked for. The key is trusted from the installed version on.
        for (answer, status, version) in [("n", 77, "0.1.0"), ("", 77, "0.1.0"), ("y", 0, "0.2.0")]
        {
            let result = try await shop.onTerminal(
                ["plugin", "update", shop.path(second)],
                answer: answer
            )
            #expect(result.exitCode == Int32(status), "\(answer): \(result.output)")
            #expect(result.output.contains("This needs your consent: it asks for more."))
            #expect(result.output.contains("Update it? [y/N]"), "\(result.output)")
            #expect(try shop.installed()["version"]?.string == version)
        }
        // It asks for less, so nothing is asked.
        let third = try await shop.bundle("0.3.0")
        let less = try shop.operate(["plugin", "update", shop.path(third)])
        #expect(less.exitCode == 0, "\(less.output)\(less.error)")
        #expect(less.output.contains("  - notify: it posts notifications"))
        #expect(less.output.contains("it asks for nothing more"))
        // Back to the one before: older, so it is asked for.
        let older = try shop.operate(["plugin", "update", shop.path(first)])
        #expect(older.exitCode == 77 && older.output.contains("it is older than 0.3.0"))
        let removed = try shop.operate(["plugin", "remove", "photos"])
        #expect(removed.exitCode == 0, "\(removed.output)\(removed.error)")
        #expect(try File.list(shop.host.file("plugins")) == [])
    }

    @Test func `What is not trusted is not installed, with four different reasons`() async throws {
        let signed = try await shop.bundle("0.1.0")
        let unsigned = try await shop.bundle("0.2.0", isSigned: false)
        let wrong = try await shop.author("bghost plugin keygen other")
        #expect(wrong.exitCode == 0)
        // Another library in the signed bundle, with a list that fits it and the old signature.
        let forged = try shop.forge(signed, from: unsigned)
        let key = ["--key", shop.path("acme.pub")]
        let cases: [(file: String, arguments: [String], text: String)] = [
            (unsigned, key, "is not signed, so its author is not proved"),
            (signed, ["--key", shop.path("other.pub")], "which is not trusted here"),
            (signed, ["--allow-unsigned"], "which is not trusted here"),
            (forged, key + ["--allow-unsigned"], "was changed"),
        ]
        for (file, arguments, text) in cases {
            let refused = try shop.operate(
                ["plugin", "install", shop.path(file), "--yes"] + arguments
            )
            #expect(refused.exitCode == 77, "\(text): \(refused.output)\(refused.error)")
            #expect(refused.error.contains(text), "\(refused.error)")
            #expect(refused.output == "", "nothing is shown of what is not trusted")
        }
        try shop.expectEmpty()
        let pinned = try shop.operate(
            ["plugin", "install", shop.path(unsigned), "--yes", "--allow-unsigned", "--json"]
        )
        #expect(pinned.exitCode == 0, "\(pinned.error)")
        let answer = try JSONReader.parse(pinned.output)
        #expect(answer["schema"]?.string == "bghost.install/1" && answer["key"]?.isNull == true)
        // A changed library is not loaded.
        let list = try JSONReader.parse(try shop.operate(["plugin", "list", "--json"]).output)
        let entry = try #require(list["bundles"]?.array?.first)
        let folder = try #require(entry["folder"]?.string)
        let library = "\(folder)/\(entry["library"]?.string ?? "")"
        #expect(entry["problem"]?.isNull == true)
        try File.write(Array("no library".utf8), to: shop.host.file(library))
        let changed = try shop.operate(["plugin", "list"])
        #expect(changed.output.contains("its library was changed; it is not loaded"))
        #expect(try shop.operate(["check"]).exitCode == 78)
    }

    @Test func `A bundle that does not fit this host is refused`() async throws {
        let whole = try Bundle(HeldFile(path: shop.path(try await shop.bundle("0.1.0"))))
        let library = try whole.bytes(of: try #require(whole.library(for: .host)))
        let foreign = try #require(Architecture.allCases.first { $0 != .host })
        let own = BundleMember.library(.host, file: "libphotos.so")
        var newer = whole.description
        newer.abi = ABIVersion(major: 1, minor: 7)
        var other = whole.description
        other.version = "9.9.9"
        let cases: [(BundleDescription, BundleMember, [UInt8], String)] = [
            (newer, own, library, "needs a host of ABI 1.7 to before 2.0"),
            (other, own, library, "bundle.json describes another one"),
            (
                whole.description, .library(foreign, file: "libphotos.so"),
                BundleShop.library(foreign), "has no library for this machine"
            ),
            (whole.description, own, Array(library.prefix(4096)), "cannot be loaded here"),
        ]
        for (description, member, library, text) in cases {
            var draft = try BundleDraft(description)
            try draft.add(member, library)
            try draft.write(to: shop.path("changed.bghost"))
            let refused = try shop.operate(
                ["plugin", "install", shop.path("changed.bghost"), "--yes", "--allow-unsigned"]
            )
            #expect(refused.exitCode == 1 && refused.error.contains(text), "\(refused.error)")
            try shop.expectEmpty()
        }
        // An author packs for both.
        try shop.folder.write(BundleShop.library(foreign), to: "foreign.so")
        let packed = try await shop.author(
            "bghost plugin pack photos --library foreign.so -o both.bghost --json"
        )
        let members = try JSONReader.parse(packed.output)["members"]?.array?.compactMap(\.string)
        #expect(members?.contains("lib/\(foreign.rawValue)/foreign.so") == true, "\(packed)")
    }

    @Test func `A terminal is asked, and only yes is a consent`() async throws {
        let bundle = try await shop.bundle("0.1.0")
        for (answer, status) in [("n", 77), ("", 77), ("y", 0)] {
            let result = try await shop.onTerminal(
                ["plugin", "install", shop.path(bundle), "--key", shop.path("acme.pub")],
                answer: answer
            )
            #expect(result.exitCode == Int32(status), "\(answer): \(result.output)")
            #expect(result.output.contains("Install it with all of this? [y/N]"))
            if status != 0 { try shop.expectEmpty() }
        }
        #expect(try shop.installed()["version"]?.string == "0.1.0")
        // Once more: it is there.
        let twice = try shop.operate(["plugin", "install", shop.path(bundle), "--yes"])
        #expect(twice.exitCode == 73 && twice.error.contains("bghost plugin update"))
        let same = try shop.operate(["plugin", "update", shop.path(bundle)])
        #expect(same.exitCode == 0 && same.output.contains("was installed already"))
    }

    @Test func `A manifest that cannot have the bundle is left as it is`() async throws {
        let bundle = try await shop.bundle("0.1.0")
        let arguments = [
            "plugin", "install", shop.path(bundle), "--yes", "--key", shop.path("acme.pub"),
        ]
        try shop.host.write(
            #"{"version": 1, "plugins": {"photos": {"library": "/x.so"}}}"#,
            to: "tasks.json"
        )
        let taken = try shop.operate(arguments)
        #expect(taken.exitCode == 78, "\(taken.error)")
        #expect(taken.error.contains("tasks.d/bundle-photos.json:"), "\(taken.error)")
        #expect(taken.error.contains("plugin `photos` is defined twice"))
        try shop.host.write(#"{"version": 1, "plugins": 7}"#, to: "tasks.json")
        #expect(try shop.operate(arguments).exitCode == 78)
        try shop.expectEmpty()
        try shop.host.write(#"{"version": 1}"#, to: "tasks.json")
        #expect(try shop.operate(arguments).exitCode == 0)
        // Another drop-in needs the plugin.
        try shop.host.write(
            #"{"tasks": {"org.example.own": {"plugin": "photos", "handler": "primes"}}}"#,
            to: "tasks.d/own.json"
        )
        let needed = try shop.operate(["plugin", "remove", "photos"])
        #expect(needed.exitCode == 78, "\(needed.error)")
        #expect(needed.error.contains("tasks.d/own.json:1:"), "\(needed.error)")
        #expect(try shop.installed()["version"]?.string == "0.1.0")
        unlink(shop.host.file("tasks.d/own.json"))
        let unknown = try shop.operate(["plugin", "remove", "photo"])
        #expect(unknown.exitCode == 4 && unknown.error.contains("did you mean photos?"))
        #expect(try shop.operate(["plugin", "remove", "photos", "--json"]).exitCode == 0)
        let none = try shop.operate(["plugin", "update", shop.path(bundle), "--yes"])
        #expect(none.exitCode == 4 && none.error.contains("photos is not installed"))
    }

    @Test func `A killed update leaves the old or the new version`() async throws {
        let bundles = [try await shop.bundle("0.1.0"), try await shop.bundle("0.2.0")]
        let key = ["--key", shop.path("acme.pub"), "--yes"]
        let install = try shop.operate(
            ["plugin", "install", shop.path(bundles[0]), "--folder", shop.host.file("lib")] + key
        )
        #expect(install.exitCode == 0, "\(install.error)")
        var versions: [String] = []
        var ends: Set<Int32?> = []
        for step in 0..<16 {
            // From before it has read the bundle to after it has ended; the first has no limit.
            let killed = try Command.run(
                ["timeout", "--signal=KILL", "0.\(String(step * 9 + 1000).dropFirst())"]
                    + [Artifact.path("bghost"), "plugin", "update", shop.path(bundles[step % 2])]
                    + key + ["--config", shop.manifest]
            )
            #expect([nil, 0, 137].contains(killed.exitCode), "\(killed.error)")
            ends.insert(killed.exitCode == 0 ? 0 : nil)
            let entry = try shop.installed()
            #expect(entry["problem"]?.isNull == true, "\(entry.text)")
            versions.append(entry["version"]?.string ?? "")
        }
        #expect(Set(versions).isSubset(of: ["0.1.0", "0.2.0"]), "\(versions)")
        #expect(ends == [0, nil], "some were killed, and some were not")
        let checked = try shop.operate(["check"])
        #expect(checked.exitCode == 0, "\(checked.output)")
        for bundle in bundles {
            let updated = try shop.operate(["plugin", "update", shop.path(bundle)] + key)
            #expect(updated.exitCode == 0, "\(updated.error)")
        }
        let last = try shop.installed()
        #expect(last["version"]?.string == "0.2.0")
        #expect(last["folder"]?.string?.hasPrefix(shop.host.file("lib/photos/0.2.0-")) == true)
    }

    @Test(.enabled(if: mayMount, "mounting needs root"))
    func `A full disk leaves the installed version as it is`() async throws {
        let (first, second) = (try await shop.bundle("0.1.0"), try await shop.bundle("0.2.0"))
        let config = "--config \(shop.manifest)"
        try shop.folder.write(#"{"version": 1}"#, to: "empty.json")
        try shop.folder.write(
            """
            mount -t tmpfs -o size=1m none \(shop.host.path)
            cp empty.json \(shop.manifest)
            bghost plugin install \(first) --key acme.pub --yes --json \(config)
            cat /dev/zero 2>/dev/null >\(shop.host.file("fill")) || true
            code=0
            bghost plugin update \(second) --yes --json \(config) || code=$?
            bghost plugin list --json \(config)
            rm \(shop.host.file("fill"))
            bghost plugin update \(second) --yes --json \(config)
            bghost plugin list --json \(config)
            exit $code
            """,
            to: "full.sh"
        )
        let result = try await shop.author("exec unshare --mount sh -e full.sh")
        #expect(result.exitCode == 1, "\(result.output)\(result.error)")
        #expect(result.error.contains("No space left on device"), "\(result.error)")
        let answers = try result.output.split(separator: "\n").map {
            try JSONReader.parse(String($0))
        }
        let lists = answers.compactMap { $0["bundles"]?.array?.first }
        #expect(lists.map { $0["version"]?.string } == ["0.1.0", "0.2.0"], "\(result.output)")
        #expect(lists.allSatisfy { $0["problem"]?.isNull == true }, "\(result.output)")
    }

    @Test func `A plain library is packed with options, the same twice`() async throws {
        let lines = ["a.bghost", "b.bghost"].map {
            """
            bghost plugin pack photos/libphotos.so --name pics --task org.example.pics=primes \
            --allow-network api.example.org:443 --allow-read /srv/in --allow-write /srv/out \
            --schema primes=schema.json --licence MIT --homepage https://example.org -o \($0)
            """
        }
        let limit = #"{"minimum": 2, "maximum": 100000000, "type": "integer"}"#
        try shop.folder.write(
            #"{"type": "object", "properties": {"limit": \#(limit)}}"#,
            to: "schema.json"
        )
        try shop.folder.write(#"{"type": "object"}"#, to: "other.json")
        for line in lines {
            let packed = try await shop.author(line)
            #expect(packed.exitCode == 0, "\(packed.error)")
        }
        #expect(try File.read(shop.path("a.bghost")) == File.read(shop.path("b.bghost")))
        let shown = try shop.operate([
            "plugin", "install", shop.path("a.bghost"), "--allow-unsigned",
        ])
        #expect(shown.exitCode == 77)
        for text in [
            "the daemon speaks to api.example.org:443 for it", "it reads /srv/in",
            "it reads and writes /srv/out", "MIT, https://example.org", "task org.example.pics:",
        ] { #expect(shown.output.contains(text), "\(text): \(shown.output)") }
        for (arguments, text) in [
            ("--task x=nosuch", "names no `handler`"), ("--allow-read data", "is not absolute"),
            ("--name ../x", "is no name of a plugin"), ("--homepage ftp://x", "does not begin"),
            ("--schema primes=photos/Makefile", "is no JSON Schema"),
            ("--schema primes=other.json", "is not the schema that handler primes has"),
            ("--library photos/Makefile", "is no shared library"),
            ("--allow-network nowhere", "cannot have"), ("--schema primes", "HANDLER=FILE"),
        ] {
            let refused = try await shop.author(
                "bghost plugin pack photos/libphotos.so -o c.bghost \(arguments)"
            )
            #expect(refused.exitCode != 0 && refused.error.contains(text), "\(refused.error)")
        }
        #expect(access(shop.path("c.bghost"), F_OK) != 0)
    }

    @Test func `pack warns of each library what other machines do not have`() async throws {
        let source = "photos/photos.c"
        let built = try await shop.author(
            """
            cc -shared -fPIC -I"$(bghost sdk --include)" -Wl,-rpath,/opt/acme/lib -o other.so \
            \(source) -Wl,--no-as-needed -lz && bghost plugin pack other.so --json
            """
        )
        #expect(built.exitCode == 0, "\(built.output)\(built.error)")
        let answer = try JSONReader.parse(built.output)
        let warnings = (answer["warnings"]?.array ?? []).compactMap(\.string)
        #expect(warnings.contains { $0.contains("libz.so.1") }, "\(warnings)")
        #expect(warnings.contains { $0.contains("/opt/acme/lib") }, "\(warnings)")
        // The same library once more, as that of another machine.
        let elsewhere = try await shop.author(
            """
            python3 -c 'b = bytearray(open("other.so", "rb").read()); b[18] = 62 if b[18] == 183 else 183; open("arm.so", "wb").write(b)'
            bghost plugin pack photos/libphotos.so --library arm.so --json
            """
        )
        #expect(elsewhere.exitCode == 0, "\(elsewhere.output)\(elsewhere.error)")
        let others = try JSONReader.parse(elsewhere.output)["warnings"]?.array ?? []
        #expect(
            others.contains { $0.string?.hasPrefix("arm.so: it needs libz.so.1") == true },
            "\(others)"
        )
    }

    /// A library beside it has the version of a newer system, so that this machine can load the plugin.
    @Test(arguments: [
        ("GLIBC_2.99", "glibc 2.99, and Debian 12 has 2.36"),
        ("GLIBCXX_3.4.31", "libstdc++ with GLIBCXX 3.4.31, and Debian 12 has 3.4.30"),
        ("CXXABI_1.3.14", "libstdc++ with CXXABI 1.3.14, and Debian 12 has 1.3.13"),
    ])
    func `pack warns of newer libraries than Debian 12 has`(
        version: String,
        told: String
    ) async throws {
        try shop.folder.write("\(version) { newer; };", to: "versions")
        try shop.folder.write("void newer(void); void newer(void) {}", to: "newer.c")
        try shop.folder.write(
            """
            void newer(void);
            __attribute__((visibility("hidden"))) void use(void) { newer(); }
            """,
            to: "use.c"
        )
        let built = try await shop.author(
            """
            cc -shared -fPIC -Wl,--version-script=versions -o libnewer.so newer.c
            cc -shared -fPIC -I"$(bghost sdk --include)" -Wl,-rpath,"$PWD" -o later.so \
            photos/photos.c use.c -L. -lnewer && bghost plugin pack later.so
            """
        )
        #expect(built.exitCode == 0, "\(built.output)\(built.error)")
        let warning = "! it needs \(told): build it on an older system\n"
        #expect(built.output.contains(warning), "\(built.output)")
    }
}
