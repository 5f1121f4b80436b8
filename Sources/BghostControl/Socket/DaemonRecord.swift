// SPDX-License-Identifier: Apache-2.0

package import BghostLinux
internal import Glibc

/// A record of the socket at which the daemon of a manifest listens.
///
/// The command line of a daemon may choose another socket or state directory than its manifest. The daemon
/// writes a record into the user's runtime directory, so that a client that knows only the manifest finds the
/// daemon.
package struct DaemonRecord: Equatable, Sendable {
    private let folder: String
    private let file: String
    private let manifest: String

    /// The most stale records that one start removes.
    private static let sweptMax = 256
    private static let bytesMax = 8 << 10

    /// - Returns: `nil` if the user has no runtime directory.
    package init?(
        manifest: String,
        isRoot: Bool = geteuid() == 0,
        environment: (String) -> String? = ControlLocation.variable(of:)
    ) {
        guard let folder = Self.folder(isRoot: isRoot, environment: environment) else { return nil }
        let manifest = Self.resolved(ControlLocation.normalized(manifest))
        guard manifest.hasPrefix("/"), !manifest.contains("\n") else { return nil }
        self.folder = folder
        self.manifest = manifest
        file = "\(folder)/\(Self.name(manifest))"
    }

    /// The folder of the records: `$XDG_RUNTIME_DIR/bghost-daemons`, otherwise `/run/bghost-daemons` for
    /// root.
    private static func folder(isRoot: Bool, environment: (String) -> String?) -> String? {
        if let runtime = environment("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") {
            return runtime + "/bghost-daemons"
        }
        return isRoot ? "/run/bghost-daemons" : nil
    }

    /// The canonical form of a path.
    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// The FNV-1a hash of the path: a path is too long for a file name, and the record contains the path too.
    private static func name(_ manifest: String) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in manifest.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return String(hash, radix: 16)
    }

    // MARK: - The daemon

    /// Writes the record.
    ///
    /// - Throws: the reason for a failure; the daemon works without a record as well.
    package func write(socket: String) throws(SystemError) {
        guard !socket.contains("\n") else { return }
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else {
            throw SystemError("mkdir", folder, code: errno)
        }
        guard isTrusted(folder, kind: .folder) else {
            throw SystemError("trust", folder, code: EPERM)
        }
        sweep()
        let draft = "\(file).\(getpid())"
        // Remove a draft that an earlier process with this pid has left.
        unlink(draft)
        let fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard fd >= 0 else { throw SystemError("open", draft, code: errno) }
        let text = Array("\(manifest)\n\(socket)\n".utf8)
        let isWritten = Glibc.write(fd, text, text.count) == text.count
        let code = errno
        close(fd)
        guard isWritten, rename(draft, file) == 0 else {
            let reason = isWritten ? errno : code
            unlink(draft)
            throw SystemError("write", file, code: reason)
        }
    }

    /// Removes the record, unless another daemon of the manifest has replaced it.
    package func remove(socket: String) {
        if lines(of: file) == [manifest, socket] { unlink(file) }
    }

    /// Removes the records of daemons that were killed: their socket does not exist.
    private func sweep() {
        guard let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        for _ in 0..<Self.sweptMax {
            guard let entry = readdir(stream) else { return }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            let path = "\(folder)/\(name)"
            guard !name.hasPrefix("."), let lines = lines(of: path), lines.count == 2,
                access(lines[1], F_OK) != 0, errno == ENOENT
            else { continue }
            unlink(path)
        }
    }

    // MARK: - Clients

    /// The socket at which the daemon listens; `nil` if there is no record or no daemon answers.
    package func socket() -> String? {
        guard isTrusted(folder, kind: .folder), let lines = lines(of: file), lines.count == 2,
            lines[0] == manifest, case .answered = UnixAddress.probe(lines[1])
        else { return nil }
        return lines[1]
    }

    /// The lines of a record; `nil` if it cannot be read or other users could have written it.
    private func lines(of path: String) -> [String]? {
        guard isTrusted(path, kind: .file),
            case .success(let bytes) = SmallFile.read(path, bytesMax: Self.bytesMax),
            let text = String(validating: bytes, as: UTF8.self)
        else { return nil }
        return text.split(separator: "\n").map(String.init)
    }

    private func isTrusted(_ path: String, kind: FileFacts.Kind) -> Bool {
        do throws(SystemError) {
            let facts = try FileFacts(of: path, followsLinks: false)
            return facts.kind == kind && facts.permissions & 0o022 == 0
                && (facts.owner == geteuid() || facts.owner == 0)
        } catch {
            return false
        }
    }
}
