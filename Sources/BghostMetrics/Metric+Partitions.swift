// SPDX-License-Identifier: Apache-2.0

extension Metric {
    private static let condition = "with tasks that have `\"runs\": \"inFleet\"`"

    static let partitionsLeaseHeld = Metric(
        "bghost_fleet_partitions_lease_held",
        .gauge,
        only: condition,
        help:
            "1 while the host has a valid lease for requests of the fleet, also while it is drained."
    )
    static let partitionsOwned = Metric(
        "bghost_fleet_partitions_owned",
        .gauge,
        only: condition,
        help: "The partitions of requests that the host owns."
    )
    static let partitionsOwnerless = Metric(
        "bghost_fleet_partitions_ownerless",
        .gauge,
        only: condition + " and a lease",
        help:
            "The partitions of requests that have had no owner for a lease, as of the last claim of this host."
    )
    static let partitionsLeaseLosses = Metric(
        "bghost_fleet_partitions_lease_losses",
        .counter,
        only: condition,
        help: "How often the host lost this lease, also for a moment."
    )
    static let partitionsCallsFailed = Metric(
        "bghost_fleet_partitions_calls_failed",
        .counter,
        only: condition,
        help: "The calls of the database for requests of the fleet that had no answer."
    )
}
