// SPDX-License-Identifier: Apache-2.0

internal import BghostLinux
internal import Glibc

/// Two processes that perform one check together, with one data directory.
enum CheckPair {
    typealias Account = Result<CheckChild.Account, SystemError>
    /// Runs one process with its order and its end of the meeting's socket, whose descriptor it
    /// closes.
    typealias Child = @Sendable (CheckOrder, Int32?) -> Account

    /// Runs both processes.
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

    /// Performs one part of the check in this process, and the other in a child.
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
        // A child dies with the thread that started it; this thread lives longer than the child.
        let line = Line()
        guard line.begin() else {
            close(descriptor)
            later.set(.failure(SystemError("start a thread for a check", code: EAGAIN)))
            return later
        }
        line.perform { [order] in
            later.set(child(order, descriptor))
            line.end()
        }
        return later
    }

    private static func end(_ later: Later<Account>) throws(SystemError) -> CheckChild.Account {
        // A child has its own, far shorter time limit.
        guard let result = later.wait(milliseconds: .max) else {
            throw SystemError("wait for a process", code: ETIMEDOUT)
        }
        return try result.get()
    }
}
