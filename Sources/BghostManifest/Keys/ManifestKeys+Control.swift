// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

/// The keys for access to the control socket by other users.
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
}
