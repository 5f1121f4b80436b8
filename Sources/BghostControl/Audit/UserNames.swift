// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import BghostModel
internal import Glibc
internal import Synchronization

/// The names of users, which the system's database looks up on a thread that may block.
enum UserNames {
    private static let known = Mutex<[UInt32: String]>([:])
    private static let knownMax = 256

    /// Who acts, for the audit.
    ///
    /// - Parameter way: that of a client that is not known.
    static func actor(_ caller: Caller?, or way: AuditWay) async -> AuditActor {
        guard let caller else { return AuditActor(way) }
        return AuditActor(
            caller.isDashboard ? .dashboard : .socket,
            uid: caller.peer.uid,
            // The process that asked for the ticket of a session has ended.
            pid: caller.isDashboard ? nil : caller.peer.pid,
            user: await name(of: caller.peer.uid),
            session: caller.session
        )
    }

    /// - Returns: "" if the system has no such user.
    private static func name(of uid: UInt32) async -> String {
        if let name = known.withLock({ $0[uid] }) { return name }
        // A daemon may have no threads left: then the row has the number alone. A thread pool of NIO would
        // end the process.
        let thread = WorkThread()
        guard thread.begin() else { return "" }
        let name = await withCheckedContinuation { continuation in
            thread.perform { continuation.resume(returning: look(up: uid)) }
        }
        thread.end()
        known.withLock { known in
            if known.count >= knownMax { known = [:] }
            known[uid] = name
        }
        return name
    }

    private static func look(up uid: UInt32) -> String {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        guard getpwuid_r(uid, &entry, &buffer, buffer.count, &found) == 0, found != nil,
            let name = entry.pw_name
        else { return "" }
        return String(cString: name)
    }
}
