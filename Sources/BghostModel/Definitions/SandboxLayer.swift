// SPDX-License-Identifier: Apache-2.0

/// A layer of a worker's sandbox.
///
/// The raw value is the word in the manifest's `require`. A `bit` never changes its meaning, because the
/// daemon and the worker exchange it.
package enum SandboxLayer: String, Equatable, Hashable, Sendable, CaseIterable {
    /// The programs that it starts gain no privileges.
    case noNewPrivileges = "no-new-privs"
    /// It has no capabilities and cannot regain any.
    case capabilities
    /// A user of its own that owns nothing else.
    case user
    /// A file system that contains only the permitted paths, and a private `/tmp`.
    case mounts
    /// Only its own processes are visible in `/proc`.
    case processes
    /// A network without interfaces, not even loopback.
    case network
    /// Its own System V queues, semaphores and shared memory.
    case ipc
    /// The kernel's Landlock rules for files, TCP, signals and abstract sockets.
    case landlock
    /// The list of permitted system calls.
    case seccomp
    /// Memory is writable or executable, but never both, even one after the other.
    case writeXorExecute = "write-xor-execute"

    /// The bit in sets of layers.
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

    /// The layers of a set; unknown bits are ignored.
    package static func layers(in bits: UInt32) -> [SandboxLayer] {
        allCases.filter { bits & $0.bit != 0 }
    }

    /// The set of some layers.
    package static func bits(_ layers: some Sequence<SandboxLayer>) -> UInt32 {
        layers.reduce(0) { $0 | $1.bit }
    }
}

/// The state of one layer of a worker's sandbox.
package struct LayerStanding: Equatable, Sendable {
    package enum State: UInt8, Equatable, Sendable {
        case missing = 0
        case holds = 1
        /// The manifest permits something that the layer would prevent.
        case waived = 2

        /// The state as text for people and programs.
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
    /// What exactly is enforced, or why it is not; may be empty.
    package var detail: String

    package init(_ layer: SandboxLayer, _ state: State, _ detail: String = "") {
        self.layer = layer
        self.state = state
        self.detail = detail
    }
}
