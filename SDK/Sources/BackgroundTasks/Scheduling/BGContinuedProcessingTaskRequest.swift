// SPDX-License-Identifier: Apache-2.0

internal import CBghost
public import FoundationEssentials

/// A request for work that a person has begun and can follow: a long run with a title.
///
/// The task has `"kind": "processing"` in `tasks.json`. The run starts as soon as the host permits it,
/// and the list of runs shows its title and its progress.
open class BGContinuedProcessingTaskRequest: BGTaskRequest {
    /// What happens if the run cannot start at once.
    public enum SubmissionStrategy: Int, Sendable {
        /// The submission throws `immediateRunIneligible`, and no request waits.
        case fail = 0
        /// The request waits until the run can start.
        case queue = 1
    }

    /// Resources beyond those that each run has.
    public struct Resources: OptionSet, Sendable {
        /// The bits of the set.
        public let rawValue: Int
        /// Creates a set from its bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// The graphics processor, which this host does not grant.
        public static let gpu = Resources(rawValue: 1)
    }

    /// What the run does, for people.
    open var title: String
    /// What it does it with, for people.
    open var subtitle: String
    /// What happens if the run cannot start at once.
    open var strategy = SubmissionStrategy.queue
    /// The resources that the run needs beyond those that each run has.
    ///
    /// A request for one that is not in `BGTaskScheduler.supportedResources` is refused.
    open var requiredResources: Resources = []

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - identifier: the identifier of the task, a key of `tasks` in `tasks.json`.
    ///   - title: what the run does.
    ///   - subtitle: what it does it with; "" for nothing.
    public init(identifier: String, title: String, subtitle: String) {
        self.title = title
        self.subtitle = subtitle
        super.init(identifier: identifier)
    }

    override var kind: UInt32 { UInt32(BG_KIND_PROCESSING) }
    override var startsNow: Bool { strategy == .fail }

    @_spi(Testing)
    public override func encodedParameters() throws -> Data {
        let missing = requiredResources.subtracting(BGTaskScheduler.supportedResources)
        guard missing.isEmpty else {
            let reason = "this host grants no graphics processor: leave `requiredResources` empty"
            throw BGTaskScheduler.Error(.notPermitted, of: identifier, reason)
        }
        let titles = try JSON.encode(
            ContinuedParameters(continuedProcessing: RunTitles(title: title, subtitle: subtitle))
        )
        let others = try super.encodedParameters()
        guard others.count > 2 else { return titles }
        // Two objects become one: the first ends with its brace, and the second begins with one.
        return titles.dropLast() + Data(",".utf8) + others.dropFirst()
    }
}

/// The titles of a run, for people.
struct RunTitles: Codable, Equatable {
    var title = ""
    var subtitle = ""

    /// Both in one line, as the activity of a run.
    var line: String { subtitle.isEmpty ? title : "\(title): \(subtitle)" }
}

/// Where a request for continued processing has its titles: beside the author's own parameters.
struct ContinuedParameters: Codable {
    var continuedProcessing: RunTitles?

    /// Reads the titles from the parameters of a run; empty ones if it has none.
    static func titles(in parameters: String) -> RunTitles {
        guard parameters.utf8.count > 2 else { return RunTitles() }
        // Parameters of another form have no titles, and are for the handler to judge.
        let read = try? JSONDecoder().decode(Self.self, from: Data(parameters.utf8))
        return read?.continuedProcessing ?? RunTitles()
    }
}

extension BGTaskScheduler {
    /// The resources that requests for continued processing may ask for: none on this host.
    public static var supportedResources: BGContinuedProcessingTaskRequest.Resources { [] }
}
