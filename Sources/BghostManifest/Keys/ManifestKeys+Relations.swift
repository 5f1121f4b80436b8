// SPDX-License-Identifier: Apache-2.0

internal import BghostModel

extension ManifestKeys {
    /// The keys of a task that relate it to other tasks.
    static let relations = [
        ManifestKey(
            "tags",
            .list(of: .tag),
            default: "[]",
            """
            Names by which commands select several tasks at once, as `bghost cancel --tag NAME`; \
            \(TaskTag.countMax) at most.
            """
        )
    ]
}
