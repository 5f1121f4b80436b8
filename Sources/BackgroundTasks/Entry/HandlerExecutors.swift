// SPDX-License-Identifier: Apache-2.0

/// What a host in the same process brings along to run handlers on, so that it knows when they wait.
@_spi(Testing)
public enum HandlerExecutors {
    /// Taken by each plugin as it is opened; `nil` has handlers run on Swift's pool.
    ///
    /// It is asked once for each run, by the run's number. A handler begins on the thread that calls
    /// `start` all the same, and is on the executor after its first suspension.
    @TaskLocal public static var source: (@Sendable (UInt64) -> (any TaskExecutor)?)?
}
