// SPDX-License-Identifier: Apache-2.0

/// A line of the source.
public struct SourcePlace: Hashable, Sendable, CustomStringConvertible {
    /// The module and the file, as `#fileID` has them.
    public let fileID: String
    /// The line, from 1.
    public let line: Int

    /// Creates a place; without arguments, that of the call.
    public init(fileID: String = #fileID, line: Int = #line) {
        self.fileID = fileID
        self.line = line
    }

    /// The file and the line, as `Weather/Refresh.swift:42`.
    public var description: String { "\(fileID):\(line)" }
}

/// An error that knows where in the source it was made.
///
/// The host stores the place with the failed run, and `bghost show` prints it. Swift does not note it by
/// itself, so the error takes it as its initializer is called:
///
///     struct StationDown: LocatedError {
///         let place: SourcePlace?
///         init(fileID: String = #fileID, line: Int = #line) {
///             place = SourcePlace(fileID: fileID, line: line)
///         }
///     }
///
/// For errors of other modules there is `TaskFailure`.
public protocol LocatedError: Error {
    /// The place; `nil` if it is unknown.
    var place: SourcePlace? { get }
}

/// An error with the place in the source where it was made; the manifest decides on a retry.
///
///     do {
///         try index.rebuild()
///     } catch {
///         throw TaskFailure(error)
///     }
///
/// An error inside decides about the outcome of the run, as it does without this one.
public struct TaskFailure: LocatedError, CustomStringConvertible {
    /// The error that was caught; `nil` if there was none.
    public let underlying: (any Error)?
    /// What went wrong, as a message for people.
    public let description: String
    /// The place of the error inside if it has one, else that of the call.
    public let place: SourcePlace?

    /// Creates an error with a message.
    public init(_ reason: String, fileID: String = #fileID, line: Int = #line) {
        underlying = nil
        description = reason
        place = SourcePlace(fileID: fileID, line: line)
    }

    /// Adds the place of the call to an error.
    public init(_ error: any Error, fileID: String = #fileID, line: Int = #line) {
        let inner = (error as? TaskFailure)?.underlying
        underlying = inner ?? error
        description = String(describing: error)
        place = (error as? any LocatedError)?.place ?? SourcePlace(fileID: fileID, line: line)
    }
}
