// SPDX-License-Identifier: Apache-2.0

/// Executors that a host in the same process supplies for handlers, to detect when they wait.
@_spi(Testing)
public enum HandlerExecutors {
    /// The source of executors.
    ///
    /// Each plugin reads it when it is opened; with `nil`, handlers run on Swift's pool.
    ///
    /// It is called once per run with the run's number. A handler still starts on the thread that
    /// calls `start`, and uses the executor after its first suspension.
    @TaskLocal public static var source: (@Sendable (UInt64) -> (any TaskExecutor)?)?
}
