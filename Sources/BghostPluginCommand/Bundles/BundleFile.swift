// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostBundle
internal import BghostLinux
internal import BghostModel
internal import BghostPlugin
internal import BghostTrust
internal import Glibc

/// Opens bundles and keys that a command line names.
enum BundleFile {
    /// The suffix of a bundle's file.
    static let suffix = ".bghost"

    /// Reads and checks a bundle.
    static func open(_ path: String) throws(CommandFailure) -> Bundle {
        let file: HeldFile
        do throws(BundleError) {
            file = try HeldFile(path: path)
        } catch {
            let isThere = access(path, F_OK) == 0
            throw CommandFailure(
                isThere ? .failure : .inputMissing,
                TerminalText.escaped(error.message),
                fix: TerminalText.escaped(error.fix)
            )
        }
        do throws(BundleError) {
            return try Bundle(file)
        } catch {
            throw CommandFailure(
                .failure,
                "\(TerminalText.escaped(path)): \(TerminalText.escaped(error.message))",
                fix: TerminalText.escaped(error.fix)
            )
        }
    }

    /// The trusted keys: the `signers` of a manifest, and those of the command line.
    ///
    /// - Parameter named: public keys of minisign, each as a file or as its line.
    static func keys(
        _ named: [String],
        _ signers: [SignerDefinition]
    ) throws(CommandFailure) -> [TrustedKey] {
        var keys: [TrustedKey] = []
        for name in named {
            var text = name
            if case .success(let bytes) = SmallFile.read(name, bytesMax: 4096) {
                text = String(decoding: bytes, as: UTF8.self)
            }
            do throws(TrustError) {
                let key = try MinisignPublicKey(text)
                keys.append(TrustedKey(name: text == name ? key.name : name, key: key))
            } catch {
                throw CommandFailure(
                    .usage,
                    "--key \(TerminalText.escaped(name)): \(TerminalText.escaped(error.description))",
                    fix: "name the file of a public key, or its line, RW and 54 further letters"
                )
            }
        }
        for signer in signers {
            // The reader of manifests has checked these keys.
            guard let key = try? MinisignPublicKey(signer.key) else { continue }
            keys.append(TrustedKey(name: signer.name, key: key))
        }
        return keys
    }

    /// Throws unless this bghost and this machine can run the plugin.
    static func requireUsable(_ bundle: Bundle) throws(CommandFailure) -> Bundle.Member {
        let abi = bundle.description.abi
        guard let own = ABIVersion(PluginImage.hostABI), abi.isSpoken(by: own) else {
            throw CommandFailure(
                .failure,
                "\(title(bundle)) needs a host of ABI \(abi) to before \(Int(abi.major) + 1).0, and"
                    + " this bghost (\(BghostVersion.text)) has ABI \(PluginImage.hostABI)",
                // No newer bghost speaks an older major.
                fix: ABIVersion(PluginImage.hostABI).map { abi.major < $0.major } == true
                    ? "ask its author for a version for ABI \(PluginImage.hostABI)"
                    : "upgrade bghost, or get a version of the plugin for this ABI"
            )
        }
        guard let library = bundle.library(for: .host) else {
            let known = bundle.architectures.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(
                .failure,
                "\(title(bundle)) has no library for this machine, \(Architecture.host.rawValue);"
                    + " it has \(known)",
                fix: "ask its author to pack one, with `bghost plugin pack --library FILE`"
            )
        }
        return library
    }

    /// The name and version; both have been checked.
    static func title(_ bundle: Bundle) -> String {
        "\(bundle.description.name) \(bundle.description.version)"
    }
}

extension CommandFailure {
    init(_ error: BundleError) {
        self.init(
            .failure,
            TerminalText.escaped(error.message),
            fix: TerminalText.escaped(error.fix)
        )
    }
}

extension BundleSignature {
    /// Who signed, for people; not escaped.
    var text: String {
        switch self {
        case .unsigned: "not signed"
        case .signed(let key): "signed by \(key.name) (key \(key.key.name))"
        case .unknownKey(let number): "signed with key \(number), which is not trusted here"
        case .tampered(let why): why
        }
    }
}
