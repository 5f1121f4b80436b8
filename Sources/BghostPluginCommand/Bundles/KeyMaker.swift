// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostTerminal
internal import BghostTrust
internal import Glibc

/// Makes the key with which an author signs bundles.
enum KeyMaker {
    /// Writes a new key: the secret one at the path, for its owner only, and the public one beside it.
    static func run(_ path: String, _ output: OutputOptions) throws(CommandFailure) {
        let pair: MinisignKeyPair
        do throws(TrustError) {
            pair = try MinisignKeyPair()
        } catch {
            throw CommandFailure(.failure, TerminalText.escaped(error.description))
        }
        try write(pair.secretText, path, mode: 0o600)
        do throws(CommandFailure) {
            try write(pair.publicText, path + ".pub", mode: 0o644)
        } catch {
            // A key without its public half would only be in the way.
            unlink(path)
            throw error
        }
        guard !output.json else {
            var writer = JSONWriter()
            writer.object { writer in
                writer.member("schema", "bghost.key/1")
                writer.member("key", pair.publicKey.line)
                writer.member("public", path + ".pub")
                writer.member("secret", path)
            }
            return output.console.answer(json: writer.text)
        }
        let place = TerminalText.escaped(path)
        output.console.answer(
            """
            \(output.console.out.painted(.good)) \(place) is the secret key: keep it, and give it away to \
            none
              \(place).pub is the public key: \(pair.publicKey.line)

            """
        )
    }

    private static func write(
        _ text: String,
        _ path: String,
        mode: mode_t
    ) throws(CommandFailure) {
        // O_EXCL: a key that is there would be lost with all that only it can sign.
        let fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard fd >= 0 else { throw failure(path) }
        defer { close(fd) }
        var text = text
        let isWritten = text.withUTF8 { Glibc.write(fd, $0.baseAddress, $0.count) == $0.count }
        guard isWritten, fsync(fd) == 0 else {
            let failure = failure(path)
            unlink(path)
            throw failure
        }
    }

    private static func failure(_ path: String) -> CommandFailure {
        let isThere = errno == EEXIST
        return CommandFailure(
            .taken,
            "cannot write \(TerminalText.escaped(path)): \(String(cString: strerror(errno)))",
            fix: isThere ? "name another file, or move this one away: it is not overwritten" : ""
        )
    }
}
