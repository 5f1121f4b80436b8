// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import Glibc

/// Two processes that make one check together, with one data directory.
enum CheckPair {
    typealias Account = Result<CheckChild.Account, SystemError>
    /// Runs one, for its order and its end of the meeting, whose descriptor it takes over.
    typealias Child = @Sendable (CheckOrder, Int32?) -> Account

    /// Runs both.
    static func run(
        _ order: CheckOrder,
        _ child: @escaping Child
    ) throws(SystemError) -> [CheckChild.Account] {
        let ends = try PacketSocket.pair()
        let second = begin(order, ends.1, child)
        var order = order
        order.place = 0
        let first = child(order, ends.0)
        return [try first.get(), try end(second)]
    }

    /// Makes one end of the check in this process, and the other one in a child.
    static func runHere(
        _ order: CheckOrder,
        _ child: @escaping Child,
        here: (Meeting) -> Finding?
    ) throws(SystemError) -> (Finding?, CheckChild.Account) {
        let ends = try PacketSocket.pair()
        let second = begin(order, ends.1, child)
        let finding = here(Meeting(place: 0, descriptor: ends.0, until: nil))
        close(ends.0)
        return (finding, try end(second))
    }

    private static func begin(
        _ order: CheckOrder,
        _ descriptor: Int32,
        _ child: @escaping Child
    ) -> Later<Account> {
        var order = order
        order.place = 1
        let later = Later<Account>()
        // A child dies with the thread that started it, which this one outlives.
        let line = Line()
        line.perform { [order] in
            later.bring(child(order, descriptor))
            line.end()
        }
        return later
    }

    private static func end(_ later: Later<Account>) throws(SystemError) -> CheckChild.Account {
        // A child has its own time, which is far less.
        guard let result = later.wait(milliseconds: .max) else {
            throw SystemError("wait for a process", code: ETIMEDOUT)
        }
        return try result.get()
    }
}
