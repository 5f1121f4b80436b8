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
        /// How often the record was cleared.
        var clearings = 0

        /// Whether one more is kept; counts it if not.
        mutating func hasRoom(_ entriesMax: Int) -> Bool {
            if record.entryCount < entriesMax { return true }
            record.unrecorded += 1
            return false
        }
    }

    /// Which forecast is meant, as long as the record is not cleared.
    struct Number: Sendable {
        fileprivate var clearings: Int
        /// `nil` if there was no room for it.
        fileprivate var index: Int?
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
        state.withLock { $0 = State(clearings: $0.clearings + 1) }
    }

    /// Adds a forecast of which nothing was sent yet.
    func add(_ forecast: ForecastEntry) -> Number {
        state.withLock { state in
            guard state.hasRoom(entriesMax) else { return Number(clearings: state.clearings) }
            state.record.forecasts.append(forecast)
            let index = state.record.forecasts.count - 1
            return Number(clearings: state.clearings, index: index)
        }
    }

    /// Counts bytes that are about to be sent.
    ///
    /// - Parameter date: now, if they are the last.
    func sends(_ bytes: Int, of number: Number, completeAt date: Date? = nil) {
        let entry = state.withLock { state -> ForecastEntry? in
            guard let index = number.index, number.clearings == state.clearings else { return nil }
            state.record.forecasts[index].bytesSent += bytes
            state.record.forecasts[index].completeAt = date
            return state.record.forecasts[index]
        }
        if let entry, date != nil { file?.append("forecast", entry) }
    }

    func add(_ photo: PhotoEntry) {
        state.withLock { state in
            if state.hasRoom(entriesMax) { state.record.photos.append(photo) }
        }
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
            guard state.hasRoom(entriesMax) else { return .new(notification) }
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
}
