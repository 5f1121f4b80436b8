// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts

extension ManifestBuilder {
    /// Reads the requirements of a task.
    func requirements(_ node: JSONNode?) -> RequirementSet {
        var required: RequirementSet = []
        for member in node?.object ?? [] where member.value.bool == true {
            required.formUnion(RequirementSet(name: member.key, probes: []) ?? [])
        }
        return required
    }

    /// Reads what happens to a run when one of its requirements is no longer met.
    func loss(_ node: JSONNode?) -> RequirementLoss {
        var loss = RequirementLoss()
        for member in node?.object ?? [] {
            let isOfProbes = member.key == "probes"
            let known = RequirementSet(name: member.key, probes: [])
            guard let requirement = isOfProbes ? .anyProbe : known,
                let action = member.value.string.flatMap(RequirementLoss.Action.init)
            else { continue }
            loss[requirement] = action
        }
        return loss
    }
}
