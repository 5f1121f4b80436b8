// SPDX-License-Identifier: Apache-2.0

/// One of the walls around a worker.
///
/// The raw value is the word of the manifest's `require`; `bit` never changes its meaning between
/// daemon and worker.
package enum SandboxLayer: String, Equatable, Hashable, Sendable, CaseIterable {
    /// No program that it starts gains rights.
    case noNewPrivileges = "no-new-privs"
    /// It has none of root's powers and cannot get one back.
    case capabilities
    /// A user of its own, to whom nothing else belongs.
    case user
    /// A file system that holds only what it may use, and a private `/tmp`.
    case mounts
    /// It sees only its own processes in `/proc`.
    case processes
    /// A network without any interface, not even loopback.
    case network
    /// System V queues, semaphores and shared memory of its own.
    case ipc
    /// The kernel's path rules: files, TCP, signals and abstract sockets.
    case landlock
    /// The list of system calls that it may make.
    case seccomp
    /// Memory is writable or executable, and never both in turn.
    case writeXorExecute = "write-xor-execute"

    /// Its place in sets of layers.
    package var bit: UInt32 {
        switch self {
        case .noNewPrivileges: 1 << 0
        case .capabilities: 1 << 1
        case .user: 1 << 2
        case .mounts: 1 << 3
        case .processes: 1 << 4
        case .network: 1 << 5
        case .ipc: 1 << 6
        case .landlock: 1 << 7
        case .seccomp: 1 << 8
        case .writeXorExecute: 1 << 9
        }
    }

    /// The layers of a set; bits that mean nothing here are passed over.
    package static func layers(in bits: UInt32) -> [SandboxLayer] {
        allCases.filter { bits & $0.bit != 0 }
    }

    /// The set of these layers.
    package static func bits(_ layers: some Sequence<SandboxLayer>) -> UInt32 {
        layers.reduce(0) { $0 | $1.bit }
    }
}

/// How it stands with one layer around one worker.
package struct LayerStanding: Equatable, Sendable {
    package enum State: UInt8, Equatable, Sendable {
        case missing = 0
        case holds = 1
        /// The manifest asks for something that it would forbid.
        case waived = 2

        /// As people and programs read it.
        package var text: String {
            switch self {
            case .missing: "missing"
            case .holds: "holds"
            case .waived: "waived"
            }
        }
    }

    package var layer: SandboxLayer
    package var state: State
    /// What exactly holds, or why it does not; may be empty.
    package var detail: String

    package init(_ layer: SandboxLayer, _ state: State, _ detail: String = "") {
        self.layer = layer
        self.state = state
        self.detail = detail
    }
}
