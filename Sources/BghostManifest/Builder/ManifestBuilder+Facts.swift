// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import BghostModel

extension ManifestBuilder {
    /// Reads the section `host.facts`.
    func facts(_ node: JSONNode?, in source: ManifestSource) -> FactDefinitions {
        guard let node else { return FactDefinitions() }
        var facts = FactDefinitions()
        facts.ups = node["ups"]?.string.flatMap { UPSAddress($0) }
        facts.meteredLinks = node["meteredLinks"]?.array?.compactMap(\.string)
        for member in node["probes"]?.object ?? [] {
            if RequirementSet.named.contains(where: { $0.name == member.key }) {
                collector.report(
                    .nameCollision,
                    at: member.keySpan,
                    in: source,
                    "a probe is named \(member.key.quoted), as what bghost knows by itself",
                    help: "rename it"
                )
            }
            if facts.probes.count == FactSheet.probesMax {
                collector.report(
                    .outOfRange,
                    at: member.keySpan,
                    in: source,
                    "there are more than \(FactSheet.probesMax) probes",
                    help: "have one program look at several things"
                )
            }
            facts.probes.append(probe(member, in: source))
        }
        return facts
    }

    private func probe(_ member: JSONMember, in source: ManifestSource) -> ProbeDefinition {
        let run = member.value["run"]
        let arguments = run?.array?.compactMap(\.string) ?? []
        if let run, run.array != nil, arguments.first?.hasPrefix("/") != true {
            collector.report(
                .badPath,
                at: run.array?.first?.span ?? run.span,
                in: source,
                "probe \(member.key.quoted) names no program by its absolute path",
                label: "such as \"/usr/bin/test\""
            )
        } else if let program = arguments.first {
            trust.require(
                program,
                of: "the program of probe \(member.key.quoted)",
                at: run?.array?.first?.span ?? member.value.span,
                in: source
            )
        }
        var probe = ProbeDefinition(name: member.key, arguments: arguments)
        probe.interval = duration(member.value["interval"]) ?? probe.interval
        probe.timeout = duration(member.value["timeout"]) ?? probe.timeout
        return probe
    }

    /// Reads the probes that a task requires.
    func probes(_ node: JSONNode?, of entry: ManifestEntry, _ host: HostSettings) -> RequirementSet
    {
        let names = host.facts.probes.map(\.name)
        var required: RequirementSet = []
        for element in node?.array ?? [] {
            guard let name = element.string else { continue }
            if let index = names.firstIndex(of: name) {
                // Probes beyond the number of bits have already been reported.
                if index < FactSheet.probesMax { required.formUnion(.probe(index)) }
                continue
            }
            let near = Spelling.nearest(to: name, among: names)
            collector.report(
                .notDefined,
                at: element.span,
                in: entry.source,
                "task \(entry.name.quoted) requires the probe \(name.quoted), which is not defined",
                label: near.map { "did you mean \"\($0.escapedForMessage)\"?" },
                help: "define it in `probes` of `host`, section `facts`"
            )
        }
        return required
    }
}
