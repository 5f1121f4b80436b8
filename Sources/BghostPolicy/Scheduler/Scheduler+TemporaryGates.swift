// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

extension Scheduler {
    /// The gates that do not depend on the request's task: replacement, store and drain.
    func temporaryGates(_ request: Request) -> [Gate] {
        let isReplaced = gates.isBeingReplaced(request)
        return [
            Gate(
                .replacement,
                isOpen: !isReplaced,
                now: isReplaced
                    ? "a newer request of its task is replacing it"
                    : "no newer request of its task",
                wanted: "none"
            ),
            Gate(
                .store,
                isOpen: storeBlock == nil,
                now: storeBlock?.reason ?? "the store keeps what it is given",
                wanted: "a store that keeps what ends",
                since: storeBlock?.since,
                remedy: storeBlock == nil ? "" : "free room on the disk; `bghost status` says more",
                condition: "the store kept what ends"
            ),
            Gate(
                .drain,
                isOpen: !isDraining,
                now: isDraining ? "bghost is stopping" : "bghost accepts requests",
                wanted: "a bghost that is not stopping",
                since: drainingSince,
                remedy: isDraining ? "start bghost again" : "",
                condition: "bghost were not stopping"
            ),
        ]
    }
}
