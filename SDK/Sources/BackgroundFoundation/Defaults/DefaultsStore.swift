// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import FoundationEssentials
internal import Glibc
internal import Synchronization

/// The values of one suite in one data directory, cached in this process.
final class DefaultsStore: Sendable {
    private struct State {
        var values: [String: PropertyValue] = [:]
        var version: DefaultsFile.Version?
        var isDamaged = false
        var isKept = true
    }

    private struct Name: Hashable {
        let directory: String?
        let suite: String?
    }

    private static let all = Mutex<[Name: DefaultsStore]>([:])

    /// `nil` without a data directory: values then last as long as the process.
    private let file: DefaultsFile?
    private let state = Mutex(State())

    private init(_ file: DefaultsFile?) { self.file = file }

    /// The store of a suite for the calling code.
    ///
    /// A test process has several plugins, each with its own data directory.
    static func current(_ suite: String?) -> DefaultsStore {
        let directory = TaskContext.current?.dataDirectory.path ?? worker
        return all.withLock { all in
            let name = Name(directory: directory, suite: suite)
            if let store = all[name] { return store }
            let store = DefaultsStore(directory.map { DefaultsFile($0, suite: suite) })
            all[name] = store
            return store
        }
    }

    /// The data directory of this worker's plugin; `nil` outside a worker.
    private static let worker = getenv("BGHOST_DATA_DIRECTORY").map { String(cString: $0) }

    /// The current values in the file.
    var values: [String: PropertyValue] {
        state.withLock { state in
            refresh(&state)
            return state.values
        }
    }

    /// Whether the last change is on the disk.
    var isKept: Bool { state.withLock { $0.isKept } }

    func value(_ key: String) -> PropertyValue? {
        state.withLock { state in
            refresh(&state)
            return state.values[key]
        }
    }

    func change(_ body: (inout [String: PropertyValue]) -> Void) {
        state.withLock { state in
            guard let file else { return body(&state.values) }
            do {
                (state.values, state.version) = try file.change(body)
                (state.isKept, state.isDamaged) = (true, false)
            } catch {
                // Keep the change in this process until the file changes.
                body(&state.values)
                state.isKept = false
                Logger().error("a change of the defaults is not kept: \(error)")
            }
        }
    }

    /// Reads the file again if another worker has changed it.
    private func refresh(_ state: inout State) {
        guard let file, let version = file.version, version != state.version else { return }
        do {
            state.values = try file.read()
            state.isDamaged = false
        } catch {
            if !state.isDamaged { Logger().error("the defaults cannot be read: \(error)") }
            state.isDamaged = true
        }
        state.version = version
    }
}
