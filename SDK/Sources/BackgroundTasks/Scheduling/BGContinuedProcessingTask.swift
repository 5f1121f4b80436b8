// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A run that a person has begun and can follow: it has a title, and reports progress.
///
/// `progress` is in `BackgroundFoundation`, which SwiftUI and UIKit bring. The list of runs shows the
/// title as the activity of the run. A run that was not requested with a title, such as by `bghost
/// trigger`, has an empty one.
public class BGContinuedProcessingTask: BGProcessingTask, @unchecked Sendable {
    private struct Shown {
        var titles: RunTitles
        var completed: Int64 = 0
        var total: Int64 = 0
    }

    /// The objects of other modules for this run: its progress.
    package let objects = AppObjects()
    private let context: TaskContext
    private let shown: Mutex<Shown>

    init(_ context: TaskContext) {
        self.context = context
        let titles = ContinuedParameters.titles(in: context.givenParameters)
        shown = Mutex(Shown(titles: titles))
        super.init(identifier: context.taskIdentifier)
        if !titles.line.isEmpty { report(shown.withLock { $0 }) }
    }

    /// What the run does, for people.
    public var title: String { shown.withLock { $0.titles.title } }
    /// What it does it with, for people.
    public var subtitle: String { shown.withLock { $0.titles.subtitle } }

    /// Sets the titles, which the list of runs shows from then on.
    ///
    /// - Parameters:
    ///   - title: what the run does.
    ///   - subtitle: what it does it with; "" for nothing.
    public func updateTitle(_ title: String, subtitle: String) {
        report(
            shown.withLock { shown in
                shown.titles = RunTitles(title: title, subtitle: subtitle)
                return shown
            }
        )
    }

    /// Reports finished units of work; a total of 0 or less is unknown.
    package func report(completed: Int64, of total: Int64) {
        report(
            shown.withLock { shown in
                shown.completed = completed
                shown.total = total
                return shown
            }
        )
    }

    private func report(_ shown: Shown) {
        context.progress(
            Int(clamping: shown.completed),
            of: Int(clamping: shown.total),
            shown.titles.line
        )
    }
}
