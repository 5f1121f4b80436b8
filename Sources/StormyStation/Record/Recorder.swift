// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import Synchronization

/// Collects the record from requests on many threads, and copies each new entry to a file if there is one.
package final class Recorder: Sendable {
    private struct State {
        var record = StationRecord()
        /// The indices in `record.notifications` by key.
        var notificationByKey: [String: Int] = [:]
        /// The number of times that the record was cleared.
        var clearings = 0

        /// Whether there is room for another entry; if not, counts it as unrecorded.
        mutating func hasRoom(_ entriesMax: Int) -> Bool {
            if record.entryCount < entriesMax { return true }
            record.unrecorded += 1
            return false
        }
    }

    /// Identifies a forecast until the record is cleared.
    struct Number: Sendable {
        fileprivate var clearings: Int
        /// `nil` if there was no room for the entry.
        fileprivate var index: Int?
    }

    private let state = Mutex(State())
    private let entriesMax: Int
    private let file: RecordFile?

    /// - Parameters:
    ///   - entriesMax: the most entries; further ones are only counted.
    ///   - file: the file for a copy of each entry as a line of JSON.
    package init(entriesMax: Int = StationRecord.entriesMax, file: RecordFile? = nil) {
        self.entriesMax = entriesMax
        self.file = file
    }

    package var record: StationRecord { state.withLock { $0.record } }

    package func clear() {
        state.withLock { $0 = State(clearings: $0.clearings + 1) }
    }

    /// Adds a forecast of which no bytes were sent yet.
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
    /// - Parameter date: the current time, if these are the last bytes.
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

    /// The result of adding a notification.
    enum Delivery: Equatable {
        case new(NotificationEntry)
        /// The key is already known; this is the first entry with it.
        case again(NotificationEntry)
        /// The key is already known with other contents.
        case conflict
    }

    /// Adds a notification; counts it as a repeat if its key is already known.
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
