// SPDX-License-Identifier: Apache-2.0

internal import CBghost
internal import Synchronization

/// The handlers of this image, each with a C function of its own.
///
/// `bg_task.start` is not told which handler it is called for, and a C function cannot capture
/// anything. So the functions are all written out, and each knows nothing but its number.
enum HandlerSlots {
    typealias Start =
        @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<bg_run_info>?) -> bg_status

    static var count: Int { functions.count }

    private static let handlers = Mutex<[Handler]>([])

    /// Gives each handler a number for as long as the process lives; `nil` if they are too many.
    static func take(_ added: [Handler]) -> [Start]? {
        handlers.withLock { handlers in
            let first = handlers.count
            guard !added.isEmpty, first + added.count <= count else { return nil }
            handlers += added
            return Array(functions[first..<handlers.count])
        }
    }

    private static func begin(
        _ slot: Int,
        _ instance: UnsafeMutableRawPointer?,
        _ info: UnsafePointer<bg_run_info>?
    ) -> bg_status {
        guard let instance, let info else { return BG_E_ARG }
        let handler = handlers.withLock { $0[slot] }
        return Run.start(handler, of: PluginInstance.at(instance), info)
    }

    private static let functions: [Start] = [
        { begin(0, $0, $1) }, { begin(1, $0, $1) }, { begin(2, $0, $1) },
        { begin(3, $0, $1) }, { begin(4, $0, $1) }, { begin(5, $0, $1) },
        { begin(6, $0, $1) }, { begin(7, $0, $1) }, { begin(8, $0, $1) },
        { begin(9, $0, $1) }, { begin(10, $0, $1) }, { begin(11, $0, $1) },
        { begin(12, $0, $1) }, { begin(13, $0, $1) }, { begin(14, $0, $1) },
        { begin(15, $0, $1) }, { begin(16, $0, $1) }, { begin(17, $0, $1) },
        { begin(18, $0, $1) }, { begin(19, $0, $1) }, { begin(20, $0, $1) },
        { begin(21, $0, $1) }, { begin(22, $0, $1) }, { begin(23, $0, $1) },
        { begin(24, $0, $1) }, { begin(25, $0, $1) }, { begin(26, $0, $1) },
        { begin(27, $0, $1) }, { begin(28, $0, $1) }, { begin(29, $0, $1) },
        { begin(30, $0, $1) }, { begin(31, $0, $1) }, { begin(32, $0, $1) },
        { begin(33, $0, $1) }, { begin(34, $0, $1) }, { begin(35, $0, $1) },
        { begin(36, $0, $1) }, { begin(37, $0, $1) }, { begin(38, $0, $1) },
        { begin(39, $0, $1) }, { begin(40, $0, $1) }, { begin(41, $0, $1) },
        { begin(42, $0, $1) }, { begin(43, $0, $1) }, { begin(44, $0, $1) },
        { begin(45, $0, $1) }, { begin(46, $0, $1) }, { begin(47, $0, $1) },
        { begin(48, $0, $1) }, { begin(49, $0, $1) }, { begin(50, $0, $1) },
        { begin(51, $0, $1) }, { begin(52, $0, $1) }, { begin(53, $0, $1) },
        { begin(54, $0, $1) }, { begin(55, $0, $1) }, { begin(56, $0, $1) },
        { begin(57, $0, $1) }, { begin(58, $0, $1) }, { begin(59, $0, $1) },
        { begin(60, $0, $1) }, { begin(61, $0, $1) }, { begin(62, $0, $1) },
        { begin(63, $0, $1) }, { begin(64, $0, $1) }, { begin(65, $0, $1) },
        { begin(66, $0, $1) }, { begin(67, $0, $1) }, { begin(68, $0, $1) },
        { begin(69, $0, $1) }, { begin(70, $0, $1) }, { begin(71, $0, $1) },
        { begin(72, $0, $1) }, { begin(73, $0, $1) }, { begin(74, $0, $1) },
        { begin(75, $0, $1) }, { begin(76, $0, $1) }, { begin(77, $0, $1) },
        { begin(78, $0, $1) }, { begin(79, $0, $1) }, { begin(80, $0, $1) },
        { begin(81, $0, $1) }, { begin(82, $0, $1) }, { begin(83, $0, $1) },
        { begin(84, $0, $1) }, { begin(85, $0, $1) }, { begin(86, $0, $1) },
        { begin(87, $0, $1) }, { begin(88, $0, $1) }, { begin(89, $0, $1) },
        { begin(90, $0, $1) }, { begin(91, $0, $1) }, { begin(92, $0, $1) },
        { begin(93, $0, $1) }, { begin(94, $0, $1) }, { begin(95, $0, $1) },
        { begin(96, $0, $1) }, { begin(97, $0, $1) }, { begin(98, $0, $1) },
        { begin(99, $0, $1) }, { begin(100, $0, $1) }, { begin(101, $0, $1) },
        { begin(102, $0, $1) }, { begin(103, $0, $1) }, { begin(104, $0, $1) },
        { begin(105, $0, $1) }, { begin(106, $0, $1) }, { begin(107, $0, $1) },
        { begin(108, $0, $1) }, { begin(109, $0, $1) }, { begin(110, $0, $1) },
        { begin(111, $0, $1) }, { begin(112, $0, $1) }, { begin(113, $0, $1) },
        { begin(114, $0, $1) }, { begin(115, $0, $1) }, { begin(116, $0, $1) },
        { begin(117, $0, $1) }, { begin(118, $0, $1) }, { begin(119, $0, $1) },
        { begin(120, $0, $1) }, { begin(121, $0, $1) }, { begin(122, $0, $1) },
        { begin(123, $0, $1) }, { begin(124, $0, $1) }, { begin(125, $0, $1) },
        { begin(126, $0, $1) }, { begin(127, $0, $1) },
    ]
}
