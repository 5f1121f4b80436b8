// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// The uploads in progress and ended.
final class Uploads: Sendable {
    /// The most uploads that are kept; the oldest is removed first.
    static let max = 1000

    struct Upload: Sendable {
        var intake: PhotoIntake
        /// The length of the complete photo, bytes.
        let length: Int
        var isRecorded = false
        /// Whether it is complete but does not have the announced digest.
        var isRefused = false

        var isWhole: Bool { intake.bytes == length }
    }

    /// The result of a request to append bytes.
    enum Opening {
        case open(Upload)
        case unknown
        /// The upload continues at another offset, or another request is appending bytes.
        case elsewhere(Int)
    }

    private struct State {
        var all: [String: Upload] = [:]
        var ids: [String] = []
        /// The uploads to which a request is appending bytes.
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

    /// Whether a request is appending bytes.
    func isBusy(_ id: String) -> Bool { state.withLock { $0.busy.contains(id) } }

    /// Opens an upload for appending at its current offset, for one request at a time.
    func open(_ id: String, at offset: Int?) -> Opening {
        state.withLock { state in
            guard let upload = state.all[id], !upload.isRefused else { return .unknown }
            guard offset == upload.intake.bytes, state.busy.insert(id).inserted else {
                return .elsewhere(upload.intake.bytes)
            }
            return .open(upload)
        }
    }

    /// Stores the bytes of a request.
    func close(_ id: String, _ upload: Upload) {
        state.withLock { state in
            state.busy.remove(id)
            if state.all[id] != nil { state.all[id] = upload }
        }
    }
}
