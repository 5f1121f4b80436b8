// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostBundle
internal import BghostLinux
internal import BghostTrust
internal import Glibc

/// Signs plugins, so that manifests can require a signer.
enum PluginSigner {
    /// Writes a signature beside the file.
    ///
    /// - Parameters:
    ///   - key: the file of the secret key.
    ///   - comment: the trusted comment, which is signed too; `nil` means the file's name and the time.
    static func run(
        file: String,
        key: String,
        comment: String?,
        _ console: Console
    ) throws(CommandFailure) {
        let secret = try secretKey(key)
        guard !file.hasSuffix(BundleFile.suffix) else {
            guard comment == nil else {
                throw CommandFailure(
                    .usage,
                    "--comment is for the .so of a plugin, not for a bundle"
                )
            }
            return try sign(bundle: file, secret, console)
        }
        let text = comment ?? "timestamp:\(unixNow() / 1_000_000_000)\tfile:\(name(of: file))"
        guard
            PrintableText.escaped(text.replacing("\t", with: " "))
                == text.replacing("\t", with: " "),
            text.utf8.count <= 1024
        else {
            throw CommandFailure(.usage, "the comment must be one line of at most 1024 bytes")
        }
        do throws(TrustError) {
            let library = try HeldLibrary(path: file)
            let signature = try secret.sign(try library.bytes(), comment: text)
            try write(signature.text, beside: file)
        } catch {
            throw CommandFailure(.failure, TerminalText.escaped(error.description))
        }
        console.answer("\(TerminalText.escaped(file))\(MinisignSignature.suffix) written\n")
        console.answer("public key: \(secret.publicKey.line)\n")
    }

    /// Puts a signature into a bundle, in place of one that may be there.
    private static func sign(
        bundle path: String,
        _ secret: MinisignSecretKey,
        _ console: Console
    ) throws(CommandFailure) {
        let bundle = try BundleFile.open(path)
        do throws(BundleError) {
            try bundle.signed(by: secret).write(to: path)
        } catch {
            throw CommandFailure(error)
        }
        console.answer("\(TerminalText.escaped(path)): \(BundleFile.title(bundle)) is signed\n")
        console.answer("public key: \(secret.publicKey.line)\n")
    }

    private static func secretKey(_ path: String) throws(CommandFailure) -> MinisignSecretKey {
        let text: [UInt8]
        switch SmallFile.read(path, bytesMax: 4096) {
        case .success(let bytes): text = bytes
        case .failure(let error): throw CommandFailure(.inputMissing, error.description)
        }
        do throws(TrustError) {
            return try MinisignSecretKey(String(decoding: text, as: UTF8.self))
        } catch {
            throw CommandFailure(.failure, "\(TerminalText.escaped(path)): \(error.description)")
        }
    }

    private static func name(of path: String) -> String {
        PrintableText.escaped(path.split(separator: "/").last.map(String.init) ?? path)
    }

    private static func write(_ text: String, beside file: String) throws(TrustError) {
        let path = file + MinisignSignature.suffix
        let fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o644)
        guard fd >= 0 else { throw TrustError(SystemError("write", path, code: errno).description) }
        defer { close(fd) }
        var text = text
        let isWritten = text.withUTF8 { Glibc.write(fd, $0.baseAddress, $0.count) == $0.count }
        guard isWritten, fsync(fd) == 0 else {
            throw TrustError(SystemError("write", path, code: errno).description)
        }
    }
}
