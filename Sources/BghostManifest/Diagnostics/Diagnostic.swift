// SPDX-License-Identifier: Apache-2.0

package import BghostBase
package import BghostModel

/// A problem in a file: what is wrong, where, and what is valid.
///
/// No text of it contains the value of a secret.
package struct Diagnostic: Equatable, Sendable {
    /// The severity of a problem.
    package enum Severity: String, Equatable, Sendable {
        /// The daemon does not start, and a reload changes nothing.
        case error
        case warning
    }

    /// A part of a file.
    package struct Place: Equatable, Sendable {
        /// Line 0 means the whole file.
        package var location: SourceLocation
        package var span: ByteSpan
        var excerpt: SourceExcerpt?

        init(_ span: ByteSpan, in source: SourceText) {
            location = source.location(at: Int(span.start))
            self.span = span
            excerpt = SourceExcerpt(of: span, in: source)
        }

        /// Creates the place of a whole file.
        init(file: String) {
            location = SourceLocation(file: file)
            span = ByteSpan(start: 0, end: 0)
        }
    }

    /// A related place.
    package struct Note: Equatable, Sendable {
        var message: String
        package var place: Place

        init(_ message: String, at place: Place) {
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
    /// One sentence on how to resolve it.
    package var help: String?
    package var notes: [Note]

    package var location: SourceLocation { place.location }

    init(
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

    /// Creates the diagnostic for a file that cannot be read.
    ///
    /// - Parameter reason: the message of the system, such as "No such file or directory".
    package static func unreadable(file: String, reason: String) -> Diagnostic {
        Diagnostic(
            .unreadable,
            "cannot read the manifest: \(reason)",
            at: Place(file: file),
            help: "name the file with --config FILE; Config/tasks.json is one to begin with"
        )
    }

    /// A manifest that other users could change.
    package static func untrusted(file: String, reason: String) -> Diagnostic {
        Diagnostic(
            .untrustedFile,
            "the manifest is not to be trusted: \(reason)",
            at: Place(file: file),
            help: "the daemon takes it with --dev only"
        )
    }

    /// A drop-in, or the folder of the drop-ins, that cannot be read.
    package static func unreadable(dropIn file: String, reason: String) -> Diagnostic {
        Diagnostic(
            .unreadable,
            "cannot read this part of the manifest: \(reason)",
            at: Place(file: file),
            help: "correct its permissions, or move it away"
        )
    }
}
