// SPDX-License-Identifier: Apache-2.0

/// The keys about traces.
extension ManifestKeys {
    static let traces = ManifestKey(
        "traces",
        .section(
            ManifestSection(
                noun: "section `traces`",
                keys: [
                    ManifestKey(
                        "endpoint",
                        .text(.webAddress),
                        required: true,
                        """
                        The URL that takes OTLP over HTTP as JSON, with its path, such as \
                        http://127.0.0.1:4318/v1/traces.
                        """
                    ),
                    ManifestKey("headers", .settings, "Headers of each request, by name."),
                    ManifestKey(
                        "sample",
                        .share(0...100),
                        default: "\"100%\"",
                        """
                        The share of the traces that begin on this host whose spans are sent; a caller that \
                        names its trace decides for that one.
                        """
                    ),
                ]
            )
        ),
        "Where the daemon sends traces of requests and runs; without this section it makes none."
    )
}
