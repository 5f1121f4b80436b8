// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostLinux

/// The manifest's conditions on the content of a library.
package struct LibraryPin: Sendable {
    /// A trusted key, and its name in the manifest.
    package struct Signer: Sendable {
        let name: String
        let key: MinisignPublicKey

        package init(name: String, key: MinisignPublicKey) {
            self.name = name
            self.key = key
        }
    }

    /// 64 lower-case hex digits.
    let sha256: String?
    let signer: Signer?

    /// - Returns: `nil` if there is no condition.
    package init?(sha256: String?, signer: Signer?) {
        guard sha256 != nil || signer != nil else { return nil }
        self.sha256 = sha256
        self.signer = signer
    }

    /// Holds a library after checking that it meets the conditions.
    package func hold(_ path: String) throws(TrustError) -> HeldLibrary {
        let library = try HeldLibrary(path: path)
        if let sha256, sha256 != library.sha256 {
            throw TrustError(
                "\(path) is not the file that the manifest pins: its SHA-256 is \(library.sha256), and"
                    + " `sha256` says \(sha256). Put the right file there, or pin this one if you"
                    + " know it"
            )
        }
        if let signer { try Self.check(library, path, signer) }
        return library
    }

    private static func check(
        _ library: HeldLibrary,
        _ path: String,
        _ signer: Signer
    ) throws(TrustError) {
        let file = path + MinisignSignature.suffix
        do throws(TrustError) {
            let text: [UInt8]
            switch SmallFile.read(file, bytesMax: MinisignSignature.bytesMax) {
            case .success(let bytes): text = bytes
            case .failure(let error):
                throw TrustError(
                    "it is not signed, and `signedBy` wants it to be by `\(signer.name)`:"
                        + " \(error.description)"
                )
            }
            let signature = try MinisignSignature(String(decoding: text, as: UTF8.self))
            try signature.check(try library.bytes(), by: signer.key, signer: signer.name)
        } catch {
            throw TrustError("\(path): \(error.description)")
        }
    }
}
