// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostBundle
internal import BghostModel
internal import BghostTerminal

/// Says who signed a bundle.
enum BundleVerifier {
    /// Checks a bundle, and prints who signed it and what is in it.
    ///
    /// - Parameters:
    ///   - keys: the trusted keys of the command line.
    ///   - config: a manifest whose `signers` are trusted too; `nil` is none.
    /// - Returns: success only if the owner of a trusted key signed it.
    static func run(
        _ path: String,
        keys: [String],
        config: String?,
        _ output: OutputOptions
    ) throws(CommandFailure) -> ExitStatus {
        let bundle = try BundleFile.open(path)
        let signers = try config.map { (config: String) throws(CommandFailure) in
            try InstalledManifest.read(config).signers
        }
        let signature = bundle.verify(try BundleFile.keys(keys, signers ?? []))
        if output.json {
            output.console.answer(json: json(path, bundle, signature))
        } else {
            show(path, bundle, signature, output.console)
        }
        guard case .signed = signature else { return .failure }
        return .success
    }

    private static func show(
        _ path: String,
        _ bundle: Bundle,
        _ signature: BundleSignature,
        _ console: Console
    ) {
        var mark = Style.Mark.bad
        if case .signed = signature { mark = .good }
        let architectures = bundle.architectures.map(\.rawValue).joined(separator: ", ")
        console.answer(
            "\(console.out.painted(mark)) \(BundleFile.title(bundle)) for \(architectures):"
                + " \(TerminalText.escaped(signature.text))\n"
        )
        for member in bundle.members {
            console.answer("  \(member.sha256.prefix(16))  \(member.count)  \(member.name)\n")
        }
        switch signature {
        case .signed: break
        case .unsigned: console.answer("  its content is whole; its author is not proved\n")
        case .unknownKey:
            console.answer("  name the author's public key with --key to prove the author\n")
        case .tampered:
            console.answer("  do not use it: get it again from its author\n")
        }
    }

    private static func json(
        _ path: String,
        _ bundle: Bundle,
        _ signature: BundleSignature
    ) -> String {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("schema", "bghost.verify/1")
            writer.member("digest", bundle.digest)
            writer.member("file", path)
            if case .signed(let key) = signature {
                writer.member("key", key.key.line)
            } else {
                writer.member("key", nil)
            }
            writer.member("members") { writer in
                writer.array { writer in
                    for member in bundle.members {
                        writer.object { writer in
                            writer.member("bytes", member.count)
                            writer.member("name", member.name)
                            writer.member("sha256", member.sha256)
                        }
                    }
                }
            }
            writer.member("name", bundle.description.name)
            writer.member("signature", signature.word)
            writer.member("text", signature.text)
            writer.member("version", bundle.description.version)
        }
        return writer.text
    }
}
