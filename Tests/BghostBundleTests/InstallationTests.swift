// SPDX-License-Identifier: Apache-2.0

import BghostBase
import BghostTestSupport
import Glibc
import Testing

@testable import BghostBundle
@testable import BghostTrust

/// Installations that end at each of their steps, as by `kill -9` or a power cut.
@Suite struct InstallationTests {
    private let folder: TemporaryDirectory
    private let configuration: Configuration

    init() throws {
        folder = try TemporaryDirectory()
        configuration = Configuration(directory: folder.path)
    }

    private func installation(
        _ version: String,
        filler: UInt8 = 7,
        in other: Configuration? = nil
    ) throws -> Installation {
        let configuration = other ?? configuration
        var description = SampleBundle.description
        description.version = version
        description.sessions = SampleBundle.node(#"{"uploads": {"fileSize": "1GiB"}}"#)
        let draft = try SampleBundle.draft(description, library: SampleBundle.library(filler))
        let bundle = try Bundle(try draft.bytes())
        let fragment = Fragment(
            bundle,
            try #require(bundle.library(for: .host)),
            grants: try GrantList(description),
            key: nil,
            pluginsFolder: configuration.pluginsFolder
        )
        return Installation(
            bundle,
            fragment,
            configuration,
            replacing: try configuration.fragment("photos")
        )
    }

    /// The installed version, whose library must be whole; `nil` if nothing is installed.
    private func installed() throws -> String? {
        guard let fragment = try configuration.fragment("photos") else { return nil }
        let path = "\(configuration.absolute(fragment.folder))/\(fragment.library)"
        #expect(LibraryDigest.sha256(path: path) == fragment.sha256, "\(fragment.version)")
        return fragment.version
    }

    private var versions: [String] {
        get throws {
            try File.list(folder.file("plugins/photos")).filter { !$0.hasPrefix(".") }.sorted()
        }
    }

    /// Writes a file, in new folders if there are none.
    ///
    /// - Returns: its path.
    @discardableResult
    private func write(_ text: String, to path: String) throws -> String {
        var place = folder.path
        for part in path.split(separator: "/").dropLast() {
            place += "/\(part)"
            try #require(mkdir(place, 0o755) == 0 || errno == EEXIST)
        }
        return try folder.write(text, to: path)
    }

    @Test func `A fragment is read as it was written`() throws {
        let fragment = try installation("1.0").fragment
        let again = try Fragment(fragment.bytes, "x")
        #expect(again == fragment)
        let text = String(decoding: fragment.bytes, as: UTF8.self)
        for (old, new) in [
            ("1.0-", "../1.0-"), ("\"photos\"", "\"other\""), ("plugins/photos/", "photos/"),
        ] {
            let changed = text.replacing(old, with: new, maxReplacements: 1)
            #expect(throws: BundleError.self, "\(new)") { try Fragment(Array(changed.utf8), "x") }
        }
    }

    @Test func `An installation that ends at any step leaves the old or the new state`() throws {
        let lock = try configuration.lock()
        let first = try installation("1.0")
        for end in 0...first.preparations {
            for step in 0..<end { try first.perform(step) }
            #expect(try installed() == nil)
        }
        try first.prepare()
        try first.commit()
        #expect(try installed() == "1.0")
        let second = try installation("2.0", filler: 9)
        for end in 0...second.preparations {
            for step in 0..<end { try second.perform(step) }
            #expect(try installed() == "1.0")
        }
        // The drop-in is written beside its place: such a file is no part of the manifest.
        let draft = folder.file("tasks.d/.bundle-photos.json.new")
        try folder.write("half", to: "tasks.d/.bundle-photos.json.new")
        #expect(try installed() == "1.0")
        #expect(try configuration.names() == ["photos"])
        try second.prepare()
        try second.commit()
        #expect(try installed() == "2.0")
        #expect(access(draft, F_OK) != 0)
        // The version before stays until the next installation.
        #expect(try versions.map { String($0.prefix(3)) } == ["1.0", "2.0"])
        let third = try installation("3.0")
        try third.prepare()
        try third.commit()
        #expect(try versions.map { String($0.prefix(3)) } == ["2.0", "3.0"])
        withExtendedLifetime(lock) {}
    }

    @Test func `What is not granted in the end leaves nothing`() throws {
        let lock = try configuration.lock()
        let first = try installation("1.0")
        try first.prepare()
        first.abandon()
        #expect(try installed() == nil)
        #expect(try File.list(folder.file("plugins")) == [])
        withExtendedLifetime(lock) {}
    }

    @Test func `The files of the installed version stay when the same ones are not installed`()
        throws
    {
        let lock = try configuration.lock()
        let first = try installation("1.0")
        try first.prepare()
        try first.commit()
        let again = try installation("1.0")
        try again.prepare()
        again.abandon()
        #expect(try installed() == "1.0")
        withExtendedLifetime(lock) {}
    }

    @Test func `A removed bundle leaves nothing`() throws {
        let lock = try configuration.lock()
        for version in ["1.0", "2.0"] {
            let installation = try installation(version)
            try installation.prepare()
            try installation.commit()
        }
        let fragment = try #require(try configuration.fragment("photos"))
        try fragment.remove(from: configuration)
        #expect(try installed() == nil)
        #expect(try configuration.names() == [])
        #expect(try File.list(folder.file("plugins")) == [])
        withExtendedLifetime(lock) {}
    }

    @Test func `A folder with files of others is neither taken nor emptied`() throws {
        let lock = try configuration.lock()
        let elsewhere = Configuration(directory: folder.path, pluginsFolder: folder.file("home"))
        for (place, configuration) in [("plugins", configuration), ("home", elsewhere)] {
            let file = try write("precious", to: "\(place)/photos/src/a")
            let installation = try installation("1.0", in: configuration)
            let refusal = #expect(throws: BundleError.self) { try installation.requireFolder() }
            #expect(refusal?.message.contains("no bundle of this manifest has made it") == true)
            #expect(throws: BundleError.self) { try installation.prepare() }
            installation.abandon()
            #expect(try File.read(file) == Array("precious".utf8))
            #expect(try File.list(folder.file("\(place)/photos")) == ["src"])
        }
        withExtendedLifetime(lock) {}
    }

    @Test func `What others put beside the versions stays`() throws {
        let lock = try configuration.lock()
        var own: [String] = []
        for version in ["1.0", "2.0", "3.0"] {
            let installation = try installation(version)
            try installation.prepare()
            try installation.commit()
            own.append(try write("own", to: "plugins/photos/\(version)/file"))
        }
        #expect(try versions.map { String($0.prefix(4)) } == ["1.0", "2.0", "2.0-", "3.0", "3.0-"])
        try #require(try configuration.fragment("photos")).remove(from: configuration)
        #expect(try versions == ["1.0", "2.0", "3.0"])
        for file in own { #expect(try File.read(file) == Array("own".utf8)) }
        withExtendedLifetime(lock) {}
    }

    @Test func `An interrupted removal can be finished`() throws {
        let lock = try configuration.lock()
        let first = try installation("1.0")
        try first.prepare()
        try first.commit()
        #expect(unlink(configuration.path(ofFragment: "photos")) == 0)
        try write("own", to: "plugins/others/file")
        #expect(configuration.removeLeftovers(of: "photos"))
        #expect(!configuration.removeLeftovers(of: "photos"))
        #expect(!configuration.removeLeftovers(of: "others"))
        #expect(try File.list(folder.file("plugins")) == ["others"])
        withExtendedLifetime(lock) {}
    }

    @Test func `Two manifests do not share the folder of a bundle`() throws {
        let shared = folder.file("shared")
        let (first, second) = (folder.file("a"), folder.file("b"))
        for path in [first, second] { try #require(mkdir(path, 0o755) == 0) }
        let one = Configuration(directory: first, pluginsFolder: shared)
        let two = Configuration(directory: second, pluginsFolder: shared)
        let locks = (try one.lock(), try two.lock())
        let installed = try installation("1.0", in: one)
        try installed.prepare()
        try installed.commit()
        for version in ["1.0", "2.0"] {
            let refused = try installation(version, in: two)
            let refusal = #expect(throws: BundleError.self) { try refused.prepare() }
            #expect(refusal?.message.contains("for the manifest in `\(first)`") == true)
            refused.abandon()
        }
        #expect(LibraryDigest.sha256(path: installed.library) == installed.fragment.sha256)
        // A manifest that is gone does not hold the folder for good.
        unlink(one.path(ofFragment: "photos"))
        let later = try installation("2.0", in: two)
        try later.prepare()
        try later.commit()
        #expect(access(later.library, F_OK) == 0 && access(installed.library, F_OK) != 0)
        withExtendedLifetime(locks) {}
    }

    @Test func `Files that are missing or were changed are installed again`() throws {
        let lock = try configuration.lock()
        let first = try installation("1.0")
        try first.prepare()
        try first.commit()
        let files = DurableFile.folder(
            of: DurableFile.folder(of: DurableFile.folder(of: first.library))
        )
        for name in [first.fragment.library, "README.md", "bundle.json"] {
            #expect(try installation("1.0").isDone)
            unlink("\(files)/\(name)")
            #expect(try !installation("1.0").isDone, "\(name)")
            // Also if the trial load fails afterwards: these are the files of the drop-in.
            let repair = try installation("1.0")
            try repair.prepare()
            repair.abandon()
            #expect(try installed() == "1.0")
            try File.write(Array("other".utf8), to: "\(files)/\(name)")
            let again = try installation("1.0")
            #expect(!again.isDone)
            try again.prepare()
            try again.commit()
            #expect(try installed() == "1.0")
        }
        withExtendedLifetime(lock) {}
    }

    @Test func `A folder of drop-ins that cannot be read is no empty one`() throws {
        #expect(try configuration.names() == [])
        try folder.write("no folder", to: "tasks.d")
        let error = #expect(throws: BundleError.self) { try configuration.names() }
        #expect(
            error?.message.contains("cannot read the folder") == true,
            "\(String(describing: error))"
        )
    }

    @Test func `Two commands do not change the same folders`() throws {
        let lock = try configuration.lock()
        let error = #expect(throws: BundleError.self) { try configuration.lock() }
        #expect(error?.message.contains("another `bghost plugin` command") == true)
        withExtendedLifetime(lock) {}
    }

    @Test func `Others may read what is installed, and not write it`() throws {
        let first = try installation("1.0")
        _ = try configuration.lock()
        try first.prepare()
        try first.commit()
        try PathTrust.check(first.library)
        try PathTrust.check(configuration.path(ofFragment: "photos"))
    }
}
