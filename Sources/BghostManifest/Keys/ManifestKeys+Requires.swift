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

    private static func summary(of requirement: StandardRequirement) -> String {
        switch requirement {
        case .externalPower: "The machine is not on battery; one without batteries never is."
        case .batteryNotLow: "The battery has 20% at least."
        case .network: "A route to the network has been there for two seconds."
        case .unmetered: "The network does not cost by the byte."
        case .idle: "Processors and disks have had little to do for a minute."
        case .storage: "The state directory's file system has 5% and 1GiB of space."
        }
    }

    private static let requires = ManifestSection(
        noun: "section `requires`",
        keys: StandardRequirement.allCases.map {
            ManifestKey($0.rawValue, .flag, default: "false", summary(of: $0))
        } + [
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
        keys: StandardRequirement.allCases.map { requirement in
            ManifestKey(
                requirement.rawValue,
                .word(RequirementLoss.Action.allCases.map(\.rawValue), reserved: []),
                default: "\"\(RequirementLoss()[requirement.set].rawValue)\"",
                "If `\(requirement.rawValue)` is lost."
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
