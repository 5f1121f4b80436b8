// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What goes wrong on the way, on request: the next time, at one place, once.
package final class Mishaps: Sendable {
    /// Where something can go wrong.
    package enum Place: String, CaseIterable, Sendable {
        /// The forecast's way to whoever asks.
        case forecast
        /// A photo's way to the station, by `PUT` or `PATCH`.
        case photo
        /// The question how much of a photo is there, by `HEAD`.
        case offset
    }

    package enum Kind: String, CaseIterable, Sendable {
        /// It takes until somebody releases it: the second half of a forecast, or the answer.
        case hold
        /// The connection breaks after half of the bytes.
        case cut
        /// A byte is not what the digest says.
        case lie
        /// The same is said to be elsewhere.
        case redirect
        /// The station is busy for a second.
        case refuse
    }

    private struct State {
        var planned: [Place: [Kind]] = [:]
        var held: [Place: [Int: AsyncStream<Never>.Continuation]] = [:]
        var lastHold = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether something of the kind can happen at the place.
    package static func canHappen(_ kind: Kind, at place: Place) -> Bool {
        switch place {
        case .forecast: true
        case .photo: kind != .lie
        case .offset: kind != .lie && kind != .cut
        }
    }

    /// Has it happen, after what is planned for the place already.
    package func plan(_ kind: Kind, at place: Place) {
        state.withLock { $0.planned[place, default: []].append(kind) }
    }

    /// What is to happen at the place now.
    func next(at place: Place) -> Kind? {
        state.withLock { state in
            guard state.planned[place]?.isEmpty == false else { return nil }
            return state.planned[place]?.removeFirst()
        }
    }

    /// Whether somebody waits there.
    package func isHolding(at place: Place) -> Bool {
        state.withLock { $0.held[place]?.isEmpty == false }
    }

    /// Waits until it is released, or the task is cancelled.
    func hold(at place: Place) async {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        let number = state.withLock { state in
            state.lastHold += 1
            state.held[place, default: [:]][state.lastHold] = continuation
            return state.lastHold
        }
        for await _ in stream {}
        state.withLock { _ = $0.held[place]?.removeValue(forKey: number) }
    }

    /// Lets go of all that waits there.
    package func release(at place: Place) {
        let held = state.withLock { $0.held.removeValue(forKey: place) } ?? [:]
        for continuation in held.values { continuation.finish() }
    }

    /// Forgets what is planned, and lets go of all that waits.
    package func clear() {
        state.withLock { $0.planned = [:] }
        for place in Place.allCases { release(at: place) }
    }
}
