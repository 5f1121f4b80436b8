// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// The keys for who and what may change what the daemon does.
extension ManifestKeys {
    static let controlGroup = ManifestKey(
        "controlGroup",
        .text(.group),
        """
        A group of the system whose members may use the control socket too; without one it is for \
        root and the user that runs the daemon.
        """
    )

    static let controlRole = ManifestKey(
        "controlRole",
        .word(ControlRole.allCases.map(\.rawValue), reserved: []),
        default: "\"read\"",
        "What members of `controlGroup` may do: only look, or all that its operator may."
    )

    static let onChange = ManifestKey(
        "onChange",
        .word(ManifestChange.allCases.map(\.rawValue), reserved: []),
        default: "\"ask\"",
        """
        What the daemon does when `tasks.json` or a file in `tasks.d` changes: reload reloads after \
        0.3 s without a change; ask waits for `bghost reload`.
        """
    )

    static let dashboard = ManifestSection(
        noun: "section `dashboard`",
        keys: [
            ManifestKey(
                "listen",
                .text(.loopbackAddress),
                required: true,
                """
                Where the pages are served: 127.0.0.1 or [::1] with a port. Others reach them through \
                `ssh -L` or a proxy with TLS on this machine.
                """
            ),
            ManifestKey(
                "hosts",
                .list(of: .siteName),
                default: "[]",
                """
                Further names that browsers may use for it, such as that of a proxy; with its port unless \
                that is the usual one of https.
                """
            ),
            ManifestKey(
                "session",
                .duration(60_000...30 * day),
                default: "\"12h\"",
                "How long a login lasts."
            ),
        ]
    )
}
