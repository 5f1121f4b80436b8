// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Planned failures: each happens once, at the next request at one place.
package final class Mishaps: Sendable {
    /// The place of a mishap.
    package enum Place: String, CaseIterable, Sendable {
        /// A forecast that is sent to a client.
        case forecast
        /// A photo that is received by `PUT` or `PATCH`.
        case photo
        /// A query of an upload's offset by `HEAD`.
        case offset
    }

    package enum Kind: String, CaseIterable, Sendable {
        /// The second half of a forecast, or the response, waits until it is released.
        case hold
        /// The connection is closed after half of the bytes.
        case cut
        /// One byte does not match the digest.
        case lie
        /// The response is a redirect to the same address.
        case redirect
        /// The station is busy for one second.
        case refuse
    }

    private struct State {
        var planned: [Place: [Kind]] = [:]
        var held: [Place: [Int: AsyncStream<Never>.Continuation]] = [:]
        var lastHold = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether a kind of mishap is possible at a place.
    package static func canHappen(_ kind: Kind, at place: Place) -> Bool {
        switch place {
        case .forecast: true
        case .photo: kind != .lie
        case .offset: kind != .lie && kind != .cut
        }
    }

    /// Plans a mishap, after those that are already planned for the place.
    package func plan(_ kind: Kind, at place: Place) {
        state.withLock { $0.planned[place, default: []].append(kind) }
    }

    /// Takes the next mishap at a place.
    func next(at place: Place) -> Kind? {
        state.withLock { state in
            guard state.planned[place]?.isEmpty == false else { return nil }
            return state.planned[place]?.removeFirst()
        }
    }

    /// Whether a request is held at a place.
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

    /// Releases all requests at a place.
    package func release(at place: Place) {
        let held = state.withLock { $0.held.removeValue(forKey: place) } ?? [:]
        for continuation in held.values { continuation.finish() }
    }

    /// Removes all planned mishaps, and releases all requests.
    package func clear() {
        state.withLock { $0.planned = [:] }
        for place in Place.allCases { release(at: place) }
    }
}
