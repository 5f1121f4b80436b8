// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// Makes the process report the place of a memory fault.
enum FaultWatch {
    /// Names a region; there are at most 8.
    ///
    /// - Parameter report: the descriptor for the report; `nil` for no report.
    static func add(
        _ region: (start: UnsafeRawPointer, count: Int, name: StaticString),
        report: Int32?
    ) {
        guard let report else { return }
        region.name.utf8Start.withMemoryRebound(
            to: CChar.self,
            capacity: region.name.utf8CodeUnitCount + 1
        ) {
            bgs_fault_region(region.start, region.count, $0)
        }
        bgs_fault_watch(report)
    }
}
