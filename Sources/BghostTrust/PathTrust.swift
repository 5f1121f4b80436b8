// SPDX-License-Identifier: Apache-2.0

package import BghostBase
internal import BghostLinux
internal import Glibc

/// Checks which users could replace a file: its owner, and users who may write to it or to a folder
/// on its path.
package enum PathTrust {
    /// Throws if a user other than root and this process's user can change the file at a path.
    ///
    /// Symbolic links are followed; each link is checked with its folders.
    ///
    /// - Parameters:
    ///   - path: absolute.
    ///   - mayBeAbsent: whether there may be no file; then no other user may be able to create it.
    package static func check(_ path: String, mayBeAbsent: Bool = false) throws(TrustError) {
        var rest = ArraySlice(path.split(separator: "/").map(String.init))
        var folder = ""
        var links = 0
        try look(at: "/")
        while let name = rest.popFirst() {
            if name == "." { continue }
            if name == ".." {
                folder = folder.split(separator: "/").dropLast().map { "/" + $0 }.joined()
                continue
            }
            let here = folder + "/" + name
            if mayBeAbsent, isAbsent(here) { return try checkCreation(of: here, in: folder) }
            let facts = try look(at: here)
            guard facts.kind == .link else {
                folder = here
                continue
            }
            links += 1
            guard links <= 40, let target = readLink(here) else {
                throw TrustError("\(here) is a link that leads nowhere")
            }
            if target.hasPrefix("/") { folder = "" }
            rest = ArraySlice(target.split(separator: "/").map(String.init)) + rest
        }
    }

    private static func isAbsent(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) != 0 && errno == ENOENT
    }

    /// A user who may write to a folder can create a file in it, also if the folder has the sticky bit.
    private static func checkCreation(of path: String, in folder: String) throws(TrustError) {
        let folder = folder.isEmpty ? "/" : folder
        let facts = try look(at: folder)
        guard mayWrite(facts) != nil else { return }
        throw TrustError(
            "\(path) does not exist, and other users could create it in \(folder); create it, or name"
                + " a place where only root can write"
        )
    }

    /// Which other users may write to a file; `nil` if none may.
    private static func mayWrite(_ facts: FileFacts) -> String? {
        if facts.permissions & 0o002 != 0 { return "everybody" }
        let mayGroup = facts.permissions & 0o020 != 0 && !isOwnGroup(facts.group, geteuid())
        return mayGroup ? "group \(facts.group)" : nil
    }

    @discardableResult
    private static func look(at path: String) throws(TrustError) -> FileFacts {
        let facts: FileFacts
        do throws(SystemError) {
            facts = try FileFacts(of: path, followsLinks: false)
        } catch {
            throw TrustError(error.description)
        }
        let user = geteuid()
        guard facts.owner == 0 || facts.owner == user else {
            throw TrustError(
                "\(path) belongs to user \(facts.owner), who could change it; `chown` it to root or to"
                    + " user \(user)"
            )
        }
        // The kernel ignores the permissions of a link.
        guard facts.kind != .link else { return facts }
        guard let others = mayWrite(facts) else { return facts }
        // In a folder with the sticky bit, like /tmp, a user cannot replace another user's file.
        guard facts.kind != .folder || facts.permissions & 0o1000 == 0 else { return facts }
        // With other permissions a device would not work for those who use it.
        guard facts.kind == .file || facts.kind == .folder else {
            throw TrustError(
                "\(path) is a device, a FIFO or a socket, which \(others) can write to; name a file"
            )
        }
        throw TrustError(
            "\(path) can be written by \(others); run"
                + " `chmod \(others == "everybody" ? "o-w" : "g-w") \(path)`"
        )
    }

    /// Whether a group is the user's own, as distributions create one for each user.
    private static func isOwnGroup(_ group: UInt32, _ user: UInt32) -> Bool {
        user == 0 ? group == 0 : group == getegid()
    }

    private static func readLink(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &buffer, buffer.count)
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
