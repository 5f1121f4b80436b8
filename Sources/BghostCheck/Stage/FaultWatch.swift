// SPDX-License-Identifier: Apache-2.0

internal import CBghostSystem

/// Has the process say where it faulted.
enum FaultWatch {
    /// Names a region; at most 8 of them.
    ///
    /// - Parameter report: where to say it; `nil` is nowhere.
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
