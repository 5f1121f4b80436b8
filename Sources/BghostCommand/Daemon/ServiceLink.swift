// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostLinux

/// What connects the daemon with the service manager that started it; empty without one.
struct ServiceLink: Sendable {
    /// Sends messages without waiting, and returns whether it could.
    let notify: (@Sendable ([ServiceMessage]) -> Bool)?
    /// How long the manager waits for a sign of life, nanoseconds.
    let watchdogTimeout: UInt64?
    /// The control socket that the manager opened.
    let controlSocket: Int32?
    private let path: String?

    /// The name of the control socket in the socket unit.
    private static let socketName = "control"

    /// - Throws: a `CommandFailure` if what the manager passes cannot be used.
    init(_ environment: ServiceEnvironment) throws {
        watchdogTimeout = environment.watchdogTimeout
        notify = try environment.notifyAddress.map(Self.notify)
        let named = environment.sockets.filter { $0.name == Self.socketName }
        guard let socket = named.first, named.count == 1 else {
            guard environment.sockets.isEmpty else {
                throw Self.failure(
                    "\(named.count) of the \(environment.sockets.count) inherited sockets have the"
                        + " name `\(Self.socketName)`, not 1",
                    fix: "set FileDescriptorName=\(Self.socketName) in one socket unit"
                )
            }
            (controlSocket, path) = (nil, nil)
            return
        }
        do throws(ListeningSocketError) {
            path = try ListeningSocket.path(of: socket.descriptor)
            controlSocket = socket.descriptor
        } catch {
            throw Self.failure(
                "the inherited socket `\(Self.socketName)` cannot be the control socket:"
                    + " \(error.description)",
                fix: "set ListenStream= to an absolute path in its socket unit"
            )
        }
    }

    private static func notify(
        _ address: String
    ) throws -> @Sendable ([ServiceMessage]) -> Bool {
        do throws(SystemError) {
            let socket = try NotifySocket(address)
            return { socket.send($0) }
        } catch {
            throw CommandFailure(
                .usage,
                "NOTIFY_SOCKET names no socket: \(error.description)",
                fix: "unset it, or let the service manager set it"
            )
        }
    }

    /// The path of the control socket that the manager opened; `nil` if it opened none.
    ///
    /// - Parameter named: the path that the command line or the manifest names.
    /// - Throws: a `CommandFailure` if that is another path.
    func controlPath(named: String?) throws -> String? {
        guard let path, let named, named != path else { return path }
        throw Self.failure(
            "the service manager opened the control socket \(path), and `--control` or"
                + " `host.control` names \(named)",
            fix: "name the same path in both, or in the socket unit only"
        )
    }

    private static func failure(_ message: String, fix: String) -> CommandFailure {
        CommandFailure(.taken, message, fix: fix)
    }
}
