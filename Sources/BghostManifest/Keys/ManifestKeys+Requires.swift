// SPDX-License-Identifier: Apache-2.0

internal import BghostFacts

extension ManifestKeys {
    /// The keys for the requirements of a task.
    static let requirements = [
        ManifestKey(
            "requires",
            .section(requires),
            "What must hold of the machine before a run may begin."
        ),
        ManifestKey(
            "onLost",
            .section(onLost),
            """
            What becomes of a run when something that it requires no longer holds: expire asks it \
            to stop, and it is repeated later; continue leaves it alone.
            """
        ),
    ]

    /// Each requirement with its meaning.
    private static let known: [(name: String, summary: String)] = [
        ("externalPower", "The machine is not on battery; one without batteries never is."),
        ("batteryNotLow", "The battery has 20% at least."),
        ("network", "A route to the network has been there for two seconds."),
        ("unmetered", "The network does not cost by the byte."),
        ("idle", "Processors and disks have had little to do for a minute."),
        ("storage", "The state directory's file system has 5% and 1GiB of space."),
    ]

    private static let requires = ManifestSection(
        noun: "section `requires`",
        keys: known.map { ManifestKey($0.name, .flag, default: "false", $0.summary) } + [
            ManifestKey(
                "probes",
                .list(of: .pluginName),
                default: "[]",
                "Probes of `host`, section `facts`, that must say that it holds."
            )
        ]
    )

    private static let onLost = ManifestSection(
        noun: "section `onLost`",
        keys: known.map { name, _ in
            let isExpiring = RequirementSet(name: name, probes: []).map { RequirementLoss()[$0] }
            return ManifestKey(
                name,
                .word(RequirementLoss.Action.allCases.map(\.rawValue), reserved: []),
                default: "\"\((isExpiring ?? .continue).rawValue)\"",
                "If `\(name)` is lost."
            )
        } + [
            ManifestKey(
                "probes",
                .word(RequirementLoss.Action.allCases.map(\.rawValue), reserved: []),
                default: "\"continue\"",
                "If one of its probes says that it does not hold any more."
            )
        ]
    )
}
