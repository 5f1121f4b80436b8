// SPDX-License-Identifier: Apache-2.0

package import BghostBase

extension API {
    /// A page of the requests of all hosts of a fleet.
    package struct FleetRequests: Codable, Equatable, Sendable {
        /// What hosts have taken in the order of partitions and ids, then what waits for them as it was submitted.
        @Elements package var requests: [FleetRequest]
        /// The cursor of the next page, also after an empty one; null after the last one.
        @OrNull package var next: String?

        package init(requests: [FleetRequest], next: String? = nil) {
            _requests = Elements(wrappedValue: requests)
            _next = OrNull(wrappedValue: next)
        }
    }

    /// A request that lives in a fleet.
    package struct FleetRequest: Codable, Equatable, Sendable {
        /// `submitted` before the owner of its partition has taken it, then `pending`, `running` or `dead`.
        package var state: String
        /// The partition in which it lives, from 0 to 255.
        @OrDefault package var partition: Int
        /// The host that owns the partition; null if none does.
        @OrNull package var owner: String?
        /// The run in progress, or the last one of a dead request; null if there is none.
        @FormOrNull<ULID> package var run: RunID?
        /// Why it is dead; "" if it is not.
        @OrDefault package var reason: String
        /// When it died; null if it did not.
        @FormOrNull<RFC3339> package var diedAt: Int64?
        /// Whether it was cancelled with `bghost cancel --fleet`, and its owner has not ended it yet.
        @OrDefault package var cancelled: Bool
        /// The request, without what only its owner knows.
        package var request: Request

        package init(
            state: String,
            partition: Int,
            owner: String? = nil,
            run: RunID? = nil,
            reason: String = "",
            diedAt: Int64? = nil,
            cancelled: Bool = false,
            request: Request
        ) {
            self.state = state
            _partition = OrDefault(wrappedValue: partition)
            _owner = OrNull(wrappedValue: owner)
            _run = FormOrNull(wrappedValue: run)
            _reason = OrDefault(wrappedValue: reason)
            _diedAt = FormOrNull(wrappedValue: diedAt)
            _cancelled = OrDefault(wrappedValue: cancelled)
            self.request = request
        }
    }

    /// The answer to a cancel of a request of the fleet.
    package struct FleetCancellation: Codable, Equatable, Sendable {
        /// Whether it was not cancelled before.
        package var changed: Bool
        /// The request as it was.
        package var request: FleetRequest

        package init(changed: Bool, request: FleetRequest) {
            self.changed = changed
            self.request = request
        }
    }
}
