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
        let installation = Installation(
            bundle,
            fragment,
            configuration,
            replacing: installed
        )
        if installation.isDone { return .unchanged(fragment) }
        // Before the question, so that a consent is not for nothing.
        try bundled { () throws(BundleError) in try installation.requireFolder() }
        let manifest = try manifest(with: fragment)
        try ask(bundle, signature, from: installed, to: fragment)
        let granted = try plugin(of: fragment, in: manifest)
        let isOverridden = remark(granted, installation, configuration)
        do {
            try bundled { () throws(BundleError) in try installation.prepare() }
            try await load(granted, manifest, installation, bundle, configuration)
            // The question and the trial take time, in which another operator can change the manifest.
            let present = try self.manifest(with: fragment)
            // The key is in the drop-in already; only whether it is still trusted counts.
            _ = try verify(bundle, present.signers, installed)
        } catch {
            installation.abandon()
            throw error
        }
        try bundled { () throws(BundleError) in
            try installation.commit(keeping: isOverridden ? granted.library : nil)
        }
        return .done(fragment)
    }

    /// Reads the manifest as it is with the drop-in.
    private func manifest(with fragment: Fragment) throws(CommandFailure) -> Manifest {
        try InstalledManifest.read(
            options.config,
            changes: [fragment.file: fragment.bytes],
            refusal: "the manifest cannot have \(fragment.name) \(fragment.version)"
        )
    }

    /// The plugin as the whole manifest has it: another drop-in can override it.
    private func plugin(
        of fragment: Fragment,
        in manifest: Manifest
    ) throws(CommandFailure) -> PluginDefinition {
        guard let plugin = manifest.plugins.first(where: { $0.name == fragment.name }) else {
            throw CommandFailure(.internalError, "the manifest has no plugin \(fragment.name)")
        }
        return plugin
    }

    /// Says whether an operator's drop-in names another library than that of the bundle.
    private func remark(
        _ plugin: PluginDefinition,
        _ installation: Installation,
        _ configuration: Configuration
    ) -> Bool {
        let fragment = installation.fragment
        guard plugin.sha256 != fragment.sha256,
            configuration.absolute(plugin.library) != installation.library
        else { return false }
        consent.say(
            "An `override` of \(fragment.name) names another library, which the daemon goes on to use:"
                + " \(TerminalText.escaped(plugin.library))"
        )
        consent.say(
            "  To use this version, write there \(TerminalText.escaped(fragment.folder))"
                + "/\(TerminalText.escaped(fragment.library)), SHA-256 \(fragment.sha256)"
        )
        return true
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
        switch VersionOrder(fragment.version, comparedWith: installed.version) {
        case .older: reasons.append("it is older than \(installed.version)")
        case .unknown: reasons.append("it may be older than \(installed.version)")
        case .notOlder: break
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
        _ granted: PluginDefinition,
        _ manifest: Manifest,
        _ installation: Installation,
        _ bundle: Bundle,
        _ configuration: Configuration
    ) async throws {
        let description = bundle.description
        // The bundle's own library, also where an operator's drop-in still names another one.
        var plugin = granted
        plugin.library = installation.library
        plugin.sha256 = installation.fragment.sha256
        plugin.signedBy = nil
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
