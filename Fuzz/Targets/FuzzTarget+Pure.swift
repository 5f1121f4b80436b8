// SPDX-License-Identifier: Apache-2.0

extension FuzzTarget {
    /// What comes from workers, manifests, plugins, clients, servers and the kernel: all that needs no
    /// library of others, and so builds in three minutes with coverage.
    package static let pure = [
        frames, runs, manifest, json, image, note, signature, calendar, zone, text, filter, facts,
        answers, notifications, lines, control, minisign, traceparent,
    ]
}
