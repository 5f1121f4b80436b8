// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import Synchronization

/// The background sessions of this process that have a delegate.
enum LiveSessions {
    private struct Held {
        weak var session: URLSession?
        /// The same, if this holds it.
        let owned: URLSession?
    }

    /// Plugins that share a process and this module may have sessions with the same identifier.
    private struct Name: Hashable {
        let host: UInt
        let identifier: String
    }

    private static let all = Mutex<[Name: Held]>([:])
    /// Sessions created outside of runs: the next run claims the kept ends for them.
    private static let unasked = Mutex<Set<Name>>([])

    /// Delivers ended transfers and kept ends to sessions that are older than the run.
    ///
    /// A worker outlives its runs, and so do sessions in globals of the plugin. Initialized with the first
    /// session.
    private static let startsAreHeard: Void = RunStarts.add { context in
        for session in takeUnasked(of: context.host)
        where session.settings.identifier != context.wakeSession {
            session.deliver(in: context)
        }
        guard let wake = context.wakeSession else { return }
        // An invalidated one only awaits the ends of its own tasks.
        let session = session(wake, of: context.host)
        if let session, !session.isInvalid { session.deliver(in: context) }
    }

    private static func name(_ identifier: String, _ host: Host?) -> Name {
        Name(host: UInt(bitPattern: host?.pointer), identifier: identifier)
    }

    /// The session with this identifier that was created last: on this host, or on a host that was
    /// closed and whose session remains in a global of the plugin.
    static func session(_ identifier: String, of host: Host?) -> URLSession? {
        let name = name(identifier, host)
        let open = Host.openAddresses
        return all.withLock { all in
            if let session = all[name]?.session { return session }
            return all.first { other, held in
                other.identifier == identifier && !open.contains(other.host) && held.session != nil
            }?.value.session
        }
    }

    /// Adds a session, which takes the place of another one with the identifier.
    ///
    /// As on iOS, a session that the app creates at its launch needs no other owner: it lives until it is
    /// invalidated. One that a run creates ends with the objects of the run, so that the next run's session
    /// gets the events.
    ///
    /// - Parameter isInRun: whether a run creates it; that run then claims its kept ends.
    static func add(
        _ session: URLSession,
        _ identifier: String,
        of host: Host?,
        isInRun: Bool
    ) {
        let name = name(identifier, host)
        _ = startsAreHeard
        // The set may have the name already.
        if !isInRun { _ = unasked.withLock { $0.insert(name) } }
        let replaced = all.withLock { all in
            all = all.filter { $0.value.session != nil }
            return all.updateValue(
                Held(session: session, owned: isInRun ? nil : session),
                forKey: name
            )
        }
        // Released outside of the lock, which the end of a session takes too.
        withExtendedLifetime(replaced) {}
    }

    /// Returns, and forgets, the sessions that were created outside of runs, on this host or on no open
    /// one.
    ///
    /// A plugin creates its launch objects before there is a host.
    static func takeUnasked(of host: Host) -> [URLSession] {
        let address = UInt(bitPattern: host.pointer)
        let names = unasked.withLock { unasked -> [Name] in
            guard !unasked.isEmpty else { return [] }
            let open = Host.openAddresses
            let names = unasked.filter { $0.host == address || !open.contains($0.host) }
            unasked.subtract(names)
            return names.sorted { $0.identifier < $1.identifier }
        }
        guard !names.isEmpty else { return [] }
        return all.withLock { all in names.compactMap { all[$0]?.session } }
    }

    static func remove(_ session: URLSession, _ identifier: String, of host: Host?) {
        let name = name(identifier, host)
        let removed = all.withLock { all in
            all[name]?.session === session ? all.removeValue(forKey: name) : nil
        }
        withExtendedLifetime(removed) {}
    }
}
