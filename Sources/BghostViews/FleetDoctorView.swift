// SPDX-License-Identifier: Apache-2.0

package import BghostAPI
internal import BghostBase
internal import BghostModel
package import BghostTerminal

/// The text output of `bghost fleet doctor`.
package struct FleetDoctorView {
    private let status: FleetStatus

    package init(status: FleetStatus) { self.status = status }

    package func text(_ style: Style) -> String {
        guard !status.name.isEmpty else {
            return "this host is in no fleet; `host.fleet` of the manifest names one\n"
        }
        return head(style) + status.findings.map { Self.lines($0, style) }.joined()
    }

    private func head(_ style: Style) -> String {
        let problems = status.findings.count { $0.isProblem }
        guard problems == 0 else {
            return "\(style.painted(.bad)) \(CountText.of(problems, "problem")) in the fleet\n"
        }
        let live = status.hosts.count { $0.state.hasLease }
        return
            "\(style.painted(.good)) \(CountText.of(live, "host")) with a valid lease, no problem\n"
    }

    private static func lines(_ finding: FleetFinding, _ style: Style) -> String {
        var text =
            style.painted(finding.isProblem ? .bad : .none) + " " + finding.kind.rawValue
            + ": " + TerminalText.escaped(finding.message) + "\n"
        if !finding.remedy.isEmpty {
            text +=
                "  " + style.painted("fix", .strong) + ": " + TerminalText.escaped(finding.remedy)
                + "\n"
        }
        return text
    }
}
