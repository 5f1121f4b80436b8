// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The uploads that are under way, or have ended.
final class Uploads: Sendable {
    /// How many are remembered; beyond, the oldest is forgotten.
    static let max = 1000

    struct Upload: Sendable {
        var intake: PhotoIntake
        /// Bytes, once it is whole.
        let length: Int
        var isRecorded = false
        /// Whether it is whole and not what it should be.
        var isRefused = false

        var isWhole: Bool { intake.bytes == length }
    }

    /// What becomes of a request that brings bytes.
    enum Opening {
        case open(Upload)
        case unknown
        /// It goes on somewhere else, or another request brings bytes right now.
        case elsewhere(Int)
    }

    private struct State {
        var all: [String: Upload] = [:]
        var ids: [String] = []
        /// Those that a request is at.
        var busy: Set<String> = []
        var last = 0
    }

    private let state = Mutex(State())

    func add(_ intake: PhotoIntake, length: Int) -> String {
        state.withLock { state in
            state.last += 1
            let id = "\(state.last)"
            state.all[id] = Upload(intake: intake, length: length)
            state.ids.append(id)
            if state.ids.count > Self.max { state.all[state.ids.removeFirst()] = nil }
            return id
        }
    }

    subscript(id: String) -> Upload? {
        state.withLock { state in state.all[id].flatMap { $0.isRefused ? nil : $0 } }
    }

    /// Whether a request brings bytes right now.
    func isBusy(_ id: String) -> Bool { state.withLock { $0.busy.contains(id) } }

    /// Has one request at a time bring bytes, from where the upload stands.
    func open(_ id: String, at offset: Int?) -> Opening {
        state.withLock { state in
            guard let upload = state.all[id], !upload.isRefused else { return .unknown }
            guard offset == upload.intake.bytes, state.busy.insert(id).inserted else {
                return .elsewhere(upload.intake.bytes)
            }
            return .open(upload)
        }
    }

    /// Keeps what a request has brought.
    func close(_ id: String, _ upload: Upload) {
        state.withLock { state in
            state.busy.remove(id)
            if state.all[id] != nil { state.all[id] = upload }
        }
    }
}
