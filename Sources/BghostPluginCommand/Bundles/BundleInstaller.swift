// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostBundle
internal import BghostInspection
internal import BghostModel

/// Installs bundles beside a manifest, and updates them.
struct BundleInstaller {
    /// What the command line says.
    struct Options {
        var file: String
        var config: String
        /// The absolute path of the folder for the plugins' files; `nil` is the usual one.
        var plugins: String?
        var keys: [String]
        var allowsUnsigned: Bool
        /// Whether to accept plugins in places that other users could change.
        var allowsUntrustedFiles: Bool
        var isUpdate: Bool
    }

    let options: Options
    let consent: BundleConsent

    /// What was done.
    enum Result {
        case done(Fragment)
        /// This very bundle is already installed.
        case unchanged(Fragment)
    }

    /// Installs the bundle, or throws and leaves all as it is.
    func run() async throws -> Result {
        let bundle = try BundleFile.open(options.file)
        let library = try BundleFile.requireUsable(bundle)
        let configuration = InstalledManifest.configuration(
            options.config,
            plugins: options.plugins
        )
        let lock = try bundled { () throws(BundleError) in try configuration.lock() }
        defer { withExtendedLifetime(lock) {} }
        let name = bundle.description.name
        let installed = try bundled { () throws(BundleError) in try configuration.fragment(name) }
        try requireState(installed, name)
        let present = try InstalledManifest.read(options.config)
        let signature = try verify(bundle, present.signers, installed)
        let fragment = try bundled { () throws(BundleError) in
            Fragment(
                bundle,
                library,
                grants: try GrantList(bundle.description),
                key: signature.key?.key.line,
                pluginsFolder: installed.map(pluginsFolder) ?? configuration.pluginsFolder
            )
        }
        if fragment == installed { return .unchanged(fragment) }
        // Before the question, so that a consent is not for nothing.
        let manifest = try InstalledManifest.read(
            options.config,
            changes: [fragment.file: fragment.bytes],
            refusal: "the manifest cannot have \(BundleFile.title(bundle))"
        )
        try ask(bundle, signature, from: installed, to: fragment)
        let installation = Installation(
            bundle,
            fragment,
            configuration,
            replacing: installed
        )
        do {
            try bundled { () throws(BundleError) in try installation.prepare() }
            try await load(manifest, installation, bundle, configuration)
        } catch {
            installation.abandon()
            throw error
        }
        try bundled { () throws(BundleError) in try installation.commit() }
        return .done(fragment)
    }

    private func requireState(_ installed: Fragment?, _ name: String) throws(CommandFailure) {
        if options.isUpdate, installed == nil {
            throw CommandFailure(
                .notFound,
                "\(name) is not installed",
                fix: "bghost plugin install \(TerminalText.escaped(options.file))"
            )
        }
        if !options.isUpdate, let installed {
            throw CommandFailure(
                .taken,
                "\(name) is installed already, version \(installed.version)",
                fix: "bghost plugin update \(TerminalText.escaped(options.file))"
            )
        }
    }

    /// The folder of all plugins, of a fragment: an update stays where the installation is.
    private func pluginsFolder(_ fragment: Fragment) -> String {
        fragment.folder.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
            .joined(separator: "/")
    }

    // MARK: Trust

    private func verify(
        _ bundle: Bundle,
        _ signers: [SignerDefinition],
        _ installed: Fragment?
    ) throws(CommandFailure) -> BundleSignature {
        var keys = try BundleFile.keys(options.keys, signers)
        // The key of the installed version goes on to be trusted, for this plugin.
        if let line = installed?.key {
            keys += try BundleFile.keys([line], []).map {
                TrustedKey(name: "the signer of the installed version", key: $0.key)
            }
        }
        let signature = bundle.verify(keys)
        let file = TerminalText.escaped(options.file)
        switch signature {
        case .signed: return signature
        case .unsigned:
            if options.allowsUnsigned { return signature }
            throw CommandFailure(
                .noPermission,
                "\(file) is not signed, so its author is not proved",
                fix: "get a signed one, or add --allow-unsigned: it is then pinned to these bytes"
            )
        case .unknownKey(let number):
            throw CommandFailure(
                .noPermission,
                "\(file) is signed with key \(number), which is not trusted here",
                fix:
                    "name the author's public key with --key, or add it to `signers` of the manifest"
            )
        case .tampered(let why):
            throw CommandFailure(
                .noPermission,
                "\(file): \(TerminalText.escaped(why))",
                fix: "do not use it: get it again from its author"
            )
        }
    }

    // MARK: Consent

    private func ask(
        _ bundle: Bundle,
        _ signature: BundleSignature,
        from installed: Fragment?,
        to fragment: Fragment
    ) throws(CommandFailure) {
        consent.show(bundle, signature, fragment)
        guard let installed else { return try consent.require("Install it with all of this?") }
        let difference = try bundled { () throws(BundleError) in
            try GrantDifference(from: installed.grants, to: fragment.grants, InstalledZones.source)
        }
        var reasons: [String] = difference.more.isEmpty ? [] : ["it asks for more"]
        if let key = installed.key, key != fragment.key {
            reasons.append("its signer is another one")
        }
        if VersionOrder.isOlder(fragment.version, than: installed.version) {
            reasons.append("it is older than \(installed.version)")
        }
        consent.say("Compared with version \(installed.version), which is installed:")
        consent.show(difference)
        guard !reasons.isEmpty else { return consent.say("  it asks for nothing more") }
        consent.say("This needs your consent: \(reasons.joined(separator: ", ")).")
        try consent.require("Update it?")
    }

    // MARK: Trial

    /// Loads the plugin from its files, with what it is to be granted, in a temporary worker.
    private func load(
        _ manifest: Manifest,
        _ installation: Installation,
        _ bundle: Bundle,
        _ configuration: Configuration
    ) async throws {
        let description = bundle.description
        guard let plugin = manifest.plugins.first(where: { $0.name == description.name }) else {
            throw CommandFailure(.internalError, "the manifest has no plugin \(description.name)")
        }
        let probe = PluginProbe(
            manifest,
            workerPath: try InstalledFiles.worker(),
            pluginPath: InstalledFiles.pluginPath([]),
            manifestDirectory: configuration.directory,
            allowsUntrustedFiles: options.allowsUntrustedFiles
        )
        let summary: PluginSummary
        switch await probe.summary(of: plugin) {
        case .success(let found): summary = found
        case .failure(let failure):
            throw CommandFailure(
                .failure,
                "\(BundleFile.title(bundle)) cannot be loaded here: "
                    + TerminalText.escaped(failure.message),
                fix: "nothing was installed; `bghost plugin inspect` shows what the library needs"
            )
        }
        guard summary.id == description.id, summary.version == description.version,
            Set(summary.handlers) == Set(description.handlers)
        else {
            throw CommandFailure(
                .failure,
                "the library is \(TerminalText.escaped("\(summary.id) \(summary.version)")), and"
                    + " bundle.json describes another one",
                fix: "nothing was installed; ask its author to pack it again"
            )
        }
        do throws(BundleError) {
            for member in bundle.members {
                guard case .schema = member.member else { continue }
                let bytes = try bundle.bytes(of: member)
                do throws(CommandFailure) {
                    try BundleSchemas.require(member.member, bytes, summary)
                } catch {
                    throw BundleError(
                        error.message,
                        fix: "nothing was installed; ask its author to pack it again"
                    )
                }
            }
        } catch {
            throw CommandFailure(error)
        }
    }

    private func bundled<Value>(
        _ work: () throws(BundleError) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(BundleError) {
            return try work()
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension BundleSignature {
    /// The trusted key whose owner signed; `nil` for others.
    fileprivate var key: TrustedKey? {
        if case .signed(let key) = self { key } else { nil }
    }
}

/// The order of versions, as far as they are numbers with dots.
enum VersionOrder {
    /// Whether a version comes before another one; not if that cannot be told.
    static func isOlder(_ version: String, than other: String) -> Bool {
        let (first, second) = (numbers(version), numbers(other))
        return first.lexicographicallyPrecedes(second)
    }

    private static func numbers(_ version: String) -> [Int] {
        version.prefix { "0123456789.".contains($0) }.split(separator: ".").map { Int($0) ?? 0 }
    }
}
