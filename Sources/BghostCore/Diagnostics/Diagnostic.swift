// SPDX-License-Identifier: Apache-2.0

/// One thing that is wrong with what somebody wrote: what, where, and what would be right.
///
/// No text in it holds the value of a secret.
package struct Diagnostic: Equatable, Sendable {
    /// How bad it is.
    package enum Severity: String, Equatable, Sendable {
        /// Nothing is started or changed while it stands.
        case error
        case warning
    }

    /// A part of a file.
    package struct Place: Equatable, Sendable {
        /// With line 0 it is the file as a whole.
        package var location: SourceLocation
        package var span: ByteSpan
        package var excerpt: SourceExcerpt?

        package init(_ span: ByteSpan, in source: SourceText) {
            location = source.location(at: Int(span.start))
            self.span = span
            excerpt = SourceExcerpt(of: span, in: source)
        }

        /// A file as a whole.
        package init(file: String) {
            location = SourceLocation(file: file)
            span = ByteSpan(start: 0, end: 0)
        }
    }

    /// Another place that belongs to the matter.
    package struct Note: Equatable, Sendable {
        package var message: String
        package var place: Place

        package init(_ message: String, at place: Place) {
            self.message = message
            self.place = place
        }
    }

    package var severity: Severity
    package var code: DiagnosticCode
    /// One sentence without a full stop.
    package var message: String
    package var place: Place
    /// A few words beside the marked part, such as "did you mean `network`?".
    package var label: String?
    /// One sentence on what to do.
    package var help: String?
    package var notes: [Note]

    package var location: SourceLocation { place.location }

    package init(
        _ code: DiagnosticCode,
        _ message: String,
        severity: Severity = .error,
        at place: Place,
        label: String? = nil,
        help: String? = nil,
        notes: [Note] = []
    ) {
        self.severity = severity
        self.code = code
        self.message = message
        self.place = place
        self.label = label
        self.help = help
        self.notes = notes
    }

    /// For a manifest that cannot be read at all.
    ///
    /// - Parameter reason: the system's words, such as "No such file or directory".
    package static func unreadable(file: String, reason: String) -> Diagnostic {
        Diagnostic(
            .unreadable,
            "cannot read the manifest: \(reason)",
            at: Place(file: file),
            help: "name the file with --config FILE; Config/tasks.json is one to begin with"
        )
    }
}

extension String {
    /// The text as a message shows it: in backticks, on one line, cut if it is long, and without
    /// anything that steers a terminal.
    var quoted: String {
        let scalars = unicodeScalars.prefix(80)
        let isCut = scalars.endIndex < unicodeScalars.endIndex
        return "`" + String(scalars).escapedForMessage + (isCut ? "…" : "") + "`"
    }
}
