// SPDX-License-Identifier: Apache-2.0

internal import BghostCommandLine
internal import BghostAPI
internal import BghostBase
internal import BghostBundle
internal import BghostTerminal
internal import Glibc

/// Shows an operator what a bundle asks for, and asks for consent.
struct BundleConsent {
    let console: Console
    /// With `--json` stdout has the answer only.
    let isJSON: Bool
    /// Whether the command line consents.
    let isGiven: Bool

    /// Prints a line, which must be safe for terminals.
    func say(_ line: String) { isJSON ? console.remark(line) : console.answer(line + "\n") }

    /// Shows the bundle with all that it asks for.
    func show(_ bundle: Bundle, _ signature: BundleSignature, _ fragment: Fragment) {
        let description = bundle.description
        say("\(BundleFile.title(bundle)) (\(description.id)), \(escaped(signature.text))")
        let about = [description.licence, description.homepage].compactMap(\.self)
        if !about.isEmpty { say("  " + escaped(about.joined(separator: ", "))) }
        say("  \(fragment.library), pinned to SHA-256 \(fragment.sha256)")
        let own = fragment.grants.grants.filter(\.isPlugins)
        if own.isEmpty {
            say("It asks for nothing besides its data directory and the usual limits.")
        } else {
            say("It asks for:")
            for grant in own { show(grant) }
        }
        for identifier in fragment.grants.identifiers {
            say("It handles the task \(escaped(identifier)):")
            for grant in fragment.grants.grants where grant.task == identifier { show(grant) }
        }
        for session in (fragment.grants.sessions.object ?? []).map(\.key) {
            say("It has transfers of the session \(escaped(session)):")
            for grant in fragment.grants.grants where grant.session == session { show(grant) }
        }
    }

    private func show(_ grant: Grant) {
        let subject = DisplayWidth.padded(escaped(grant.subject) + " ", to: 14)
        say("  \(subject)\(escaped(grant.text))")
    }

    /// Shows what an update changes.
    func show(_ difference: GrantDifference) {
        for change in difference.more { say("  + \(escaped(change))") }
        for change in difference.less { say("  - \(escaped(change))") }
        for change in difference.other { say("  ~ \(escaped(change))") }
    }

    /// Throws unless the operator consents.
    func require(_ question: String) throws(CommandFailure) {
        if isGiven { return }
        guard isatty(0) == 1, isatty(2) == 1 else {
            throw CommandFailure(
                .noPermission,
                "this needs your consent, and there is no terminal to ask for it",
                fix: "read the list, and repeat the command with --yes"
            )
        }
        console.prompt("\(question) [y/N] ")
        let answer = readLine()?.lowercased()
        guard answer == "y" || answer == "yes" else {
            throw CommandFailure(.noPermission, "not installed, as you decided")
        }
    }

    private func escaped(_ text: String) -> String { TerminalText.escaped(text) }
}
