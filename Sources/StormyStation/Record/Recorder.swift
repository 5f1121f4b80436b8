// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Synchronization

/// Keeps the record while requests arrive on many threads, and copies each new entry to a file if
/// there is one.
package final class Recorder: Sendable {
    private struct State {
        var record = StationRecord()
        /// Where in `record.notifications` the one of a key stands.
        var notificationByKey: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let entriesMax: Int
    private let file: RecordFile?

    /// - Parameters:
    ///   - entriesMax: entries kept; those after them are counted only.
    ///   - file: where each entry is also written as a line of JSON.
    package init(entriesMax: Int = StationRecord.entriesMax, file: RecordFile? = nil) {
        self.entriesMax = entriesMax
        self.file = file
    }

    package var record: StationRecord { state.withLock { $0.record } }

    package func clear() {
        state.withLock { $0 = State() }
    }

    func add(_ forecast: ForecastEntry) {
        keep { $0.record.forecasts.append(forecast) }
        file?.append("forecast", forecast)
    }

    func add(_ photo: PhotoEntry) {
        keep { $0.record.photos.append(photo) }
        file?.append("photo", photo)
    }

    func addRefusal() {
        state.withLock { $0.record.refused += 1 }
    }

    /// What became of a notification.
    enum Delivery: Equatable {
        case new(NotificationEntry)
        /// The key was there already; this is the entry of the first time.
        case again(NotificationEntry)
        /// The key was there already, with something else to say.
        case conflict
    }

    /// Adds a notification, or counts it as a repeat if its key has come before.
    func add(_ notification: NotificationEntry) -> Delivery {
        let delivery = state.withLock { state -> Delivery in
            if let key = notification.idempotencyKey, let index = state.notificationByKey[key] {
                let first = state.record.notifications[index]
                guard first.saysTheSame(as: notification) else { return .conflict }
                state.record.notifications[index].repeats += 1
                return .again(state.record.notifications[index])
            }
            guard state.record.entryCount < entriesMax else {
                state.record.unrecorded += 1
                return .new(notification)
            }
            if let key = notification.idempotencyKey {
                state.notificationByKey[key] = state.record.notifications.count
            }
            state.record.notifications.append(notification)
            return .new(notification)
        }
        switch delivery {
        case .new(let entry): file?.append("notification", entry)
        case .again(let entry): file?.append("repeat", entry)
        case .conflict: break
        }
        return delivery
    }

    private func keep(_ change: (inout State) -> Void) {
        state.withLock { state in
            guard state.record.entryCount < entriesMax else {
                state.record.unrecorded += 1
                return
            }
            change(&state)
        }
    }
}
