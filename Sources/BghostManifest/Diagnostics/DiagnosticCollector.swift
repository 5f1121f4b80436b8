// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostModel

/// Collects the diagnostics of one manifest's files.
final class DiagnosticCollector {
    /// The most diagnostics that are kept: the refusal of a very bad file must not take long or much memory.
    static let countMax = 100

    private var entries: [(file: Int, offset: UInt32, diagnostic: Diagnostic)] = []
    private var omitted = 0
    private(set) var hasErrors = false

    /// Adds a diagnostic; its texts are created only if it is kept.
    func report(
        _ code: DiagnosticCode,
        severity: Diagnostic.Severity = .error,
        at span: ByteSpan,
        in source: ManifestSource,
        _ message: @autoclosure () -> String,
        label: @autoclosure () -> String? = nil,
        help: @autoclosure () -> String? = nil,
        notes: @autoclosure () -> [Diagnostic.Note] = []
    ) {
        if severity == .error { hasErrors = true }
        guard entries.count < Self.countMax else {
            omitted += 1
            return
        }
        let diagnostic = Diagnostic(
            code,
            message(),
            severity: severity,
            at: Diagnostic.Place(span, in: source.text),
            label: label(),
            help: help(),
            notes: notes()
        )
        entries.append((source.index, span.start, diagnostic))
    }

    /// Returns the diagnostics, in the order of the files and of the places in them.
    func finish() -> [Diagnostic] {
        let sorted = entries.enumerated().sorted {
            ($0.element.file, $0.element.offset, $0.offset)
                < ($1.element.file, $1.element.offset, $1.offset)
        }
        var diagnostics = sorted.map(\.element.diagnostic)
        if omitted > 0, let last = diagnostics.last {
            diagnostics.append(
                Diagnostic(
                    .tooManyProblems,
                    "\(omitted) more problems are not shown",
                    severity: hasErrors ? .error : .warning,
                    at: Diagnostic.Place(file: last.location.file)
                )
            )
        }
        return diagnostics
    }
}
