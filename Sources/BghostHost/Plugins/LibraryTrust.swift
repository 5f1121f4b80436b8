// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostPlugin
internal import BghostTrust

/// Whether a plugin's file is the one that its operator means.
struct LibraryTrust {
    private let pin: LibraryPin?
    private let key: Result<Void, TrustError>
    private let isLax: Bool

    /// - Parameter isLax: whether files are taken that others could change.
    init(_ plugin: PluginDefinition, _ manifest: Manifest, isLax: Bool) {
        self.isLax = isLax
        var signer: LibraryPin.Signer?
        var problem: TrustError?
        if let name = plugin.signedBy {
            do throws(TrustError) {
                guard let definition = manifest.signers.first(where: { $0.name == name }) else {
                    throw TrustError("`\(name)` is none of the manifest's `signers`")
                }
                signer = LibraryPin.Signer(
                    name: name,
                    key: try MinisignPublicKey(definition.key)
                )
            } catch {
                problem = error
            }
        }
        pin = LibraryPin(sha256: plugin.sha256, signer: signer)
        key = problem.map { .failure($0) } ?? .success(())
    }

    /// Takes hold of a file where the manifest says which one it must be.
    ///
    /// - Returns: `nil` if the file at the path is taken as it is.
    func hold(_ path: String) throws(TrustError) -> HeldLibrary? {
        try key.get()
        if !isLax { try PathTrust.check(path) }
        return try pin?.hold(path)
    }
}

extension PluginImage {
    /// Describes a library, or what is held of it.
    static func inspect(path: String, held: HeldLibrary?) throws(ImageError) -> PluginImage {
        guard let held else { return try inspect(path: path) }
        return try inspect(descriptor: held.descriptor, path: path)
    }
}
