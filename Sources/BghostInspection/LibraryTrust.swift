// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel
internal import BghostPlugin
internal import BghostTrust

/// The trust rules of a plugin: which files the manifest allows to load.
struct LibraryTrust {
    private let sha256: String?
    private let signer: Result<LibraryPin.Signer?, TrustError>
    /// The SHA-256 of needed libraries by name.
    private let libraries: [String: String]
    private let holdsAlways: Bool
    /// Whether files are allowed that users other than root and the daemon's could change.
    let allowsUntrustedFiles: Bool

    /// Reads the rules of a plugin from the manifest.
    ///
    /// - Parameter allowsUntrustedFiles: whether files are allowed that other users could change.
    init(_ plugin: PluginDefinition, _ manifest: Manifest, allowsUntrustedFiles: Bool) {
        sha256 = plugin.sha256
        libraries = plugin.libraries
        holdsAlways = plugin.onChange == .ask || !plugin.libraries.isEmpty
        self.allowsUntrustedFiles = allowsUntrustedFiles
        signer = Result { () throws(TrustError) in try Self.signer(of: plugin, manifest) }
    }

    /// Creates rules that check only the permissions of files.
    init(allowsUntrustedFiles: Bool) {
        sha256 = nil
        libraries = [:]
        signer = .success(nil)
        holdsAlways = false
        self.allowsUntrustedFiles = allowsUntrustedFiles
    }

    private static func signer(
        of plugin: PluginDefinition,
        _ manifest: Manifest
    ) throws(TrustError) -> LibraryPin.Signer? {
        guard let name = plugin.signedBy else { return nil }
        guard let definition = manifest.signers.first(where: { $0.name == name }) else {
            throw TrustError("`\(name)` is none of the manifest's `signers`")
        }
        return LibraryPin.Signer(name: name, key: try MinisignPublicKey(definition.key))
    }

    /// Refuses a path whose file users other than root and the daemon's could change.
    func checkPlace(_ path: String) throws(TrustError) {
        if !allowsUntrustedFiles { try PathTrust.check(path) }
    }

    /// Copies the plugin's library into a sealed memory file, if the manifest requires that.
    ///
    /// The manifest requires it if it pins or signs the library, pins needed libraries, or sets
    /// `onChange` to `ask`.
    ///
    /// - Returns: `nil` if the file at the path is loaded directly.
    func hold(_ path: String) throws(TrustError) -> HeldLibrary? {
        if let pin = LibraryPin(sha256: sha256, signer: try signer.get()) {
            return try pin.hold(path)
        }
        return holdsAlways ? try HeldLibrary(path: path) : nil
    }

    /// Whether a needed library must be held: the rules of a plugin apply to all its code.
    func holds(_ library: NeededLibrary) -> Bool {
        if case .success(.none) = signer {
            return sha256 != nil || holdsAlways || libraries[library.name] != nil
        }
        return true
    }

    /// Holds a needed library, if the rules require that.
    func hold(needed library: NeededLibrary) throws(TrustError) -> HeldLibrary? {
        let held = try take(library)
        guard held == nil || library.soname == library.name else {
            throw TrustError(
                "the plugin is held, and needs \(library.path) as `\(library.name)`, while that library"
                    + " calls itself `\(library.soname ?? "")`: the loader would take another file."
                    + " Link it with -soname, and the plugin by that name"
            )
        }
        return held
    }

    private func take(_ library: NeededLibrary) throws(TrustError) -> HeldLibrary? {
        let path = library.path
        if let wanted = libraries[library.name] {
            let held = try HeldLibrary(path: path)
            guard held.sha256 == wanted else {
                throw TrustError(
                    "\(path) is not the library that the manifest pins: its SHA-256 is \(held.sha256), and"
                        + " `libraries` says \(wanted). Put the right file there, or pin this one if you"
                        + " know it"
                )
            }
            return held
        }
        if let pin = LibraryPin(sha256: nil, signer: try signer.get()) { return try pin.hold(path) }
        guard sha256 != nil || holdsAlways else { return nil }
        let held = try HeldLibrary(path: path)
        guard sha256 != nil else { return held }
        throw TrustError(
            "the plugin is pinned, and \(path), which it needs, is not; if you know that file, add"
                + " `\"libraries\": {\"\(library.name)\": {\"sha256\": \"\(held.sha256)\"}}`"
        )
    }
}

extension PluginImage {
    /// Describes a library, or its held copy if there is one.
    static func inspect(
        path: String,
        held: HeldLibrary?,
        budget: ImageBudget
    ) throws(ImageError) -> PluginImage {
        guard let held else { return try inspect(path: path, budget: budget) }
        return try inspect(descriptor: held.descriptor, path: path, budget: budget)
    }
}
