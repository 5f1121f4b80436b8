// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFacts
internal import CBghostSystem
internal import Glibc

/// Reads from the kernel's tables whether the machine has a network.
///
/// It lists the tables once, and again when the kernel reports a change. It does not apply the
/// reported changes itself: the kernel removes routes together with their link without reporting
/// them.
final class NetworkSource: FactSource {
    let requirements: RequirementSet = [.network, .unmetered]
    private(set) var deadline: MonotonicInstant = .never
    private let metered: [String]?
    private var context: FactSourceContext?
    /// The socket on which the kernel reports changes.
    private var changes: Channel?
    /// The socket for listings, separate from the changes, so that it receives only answers.
    private var answers: Channel?
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    private var table = NetworkTable()
    /// The index in `questions` of the listing in progress.
    private var step: Int?
    private var sequence: UInt32 = 0
    private var listedAt: MonotonicInstant = .zero
    /// Whether a change was reported since the listing started.
    private var isOutdated = false

    private struct Channel {
        let fd: Int32
        let token: UInt64
    }

    private static let source = "rtnetlink"
    private static let questions: [(kind: UInt16, family: UInt8)] = [
        (NetlinkMessage.getLink, 0), (NetlinkMessage.getAddress, 0),
        (NetlinkMessage.getRoute, UInt8(AF_INET)), (NetlinkMessage.getRoute, UInt8(AF_INET6)),
    ]
    /// The shortest time between two listings, however much changes.
    private static let restInterval: UInt64 = 100_000_000
    /// The time until a failed listing is retried.
    private static let retryInterval: UInt64 = 30_000_000_000

    /// - Parameter metered: the names of metered links, where a `*` at the end matches any rest;
    ///   `nil` if the operator has not set them.
    init(metered: [String]? = nil) {
        self.metered = metered
    }

    deinit { for channel in [changes, answers].compactMap({ $0 }) { close(channel.fd) } }

    func start(_ context: FactSourceContext, now: MonotonicInstant) {
        self.context = context
        // A sandbox without netlink never gets it, so this is not retried.
        begin(context, now: now)
    }

    private func begin(_ context: FactSourceContext, now: MonotonicInstant) {
        do throws(SystemError) {
            // Subscribe before the first listing, so that no change between the two is missed.
            changes = try open(BGS_ROUTE_GROUPS, context)
            answers = try open(0, context)
        } catch {
            report(error)
            closeChannels()
            return
        }
        list(now: now)
    }

    private func open(_ groups: UInt32, _ context: FactSourceContext) throws(SystemError) -> Channel
    {
        let socket = Descriptor(
            owning: try checked(bgs_netlink_open(BGS_NETLINK_ROUTE, groups), "hear of networks")
        )
        let token = try context.watch(socket.raw, for: .input)
        return Channel(fd: socket.release(), token: token)
    }

    func poll(now: MonotonicInstant) {
        guard deadline <= now, let context else { return }
        if answers == nil { begin(context, now: now) } else { list(now: now) }
    }

    func ready(_ token: UInt64, _ readiness: Readiness, now: MonotonicInstant) {
        if token == changes?.token {
            readChanges(now: now)
        } else if token == answers?.token {
            readAnswers(now: now)
        }
    }

    func received(_ message: FactMessage, now: MonotonicInstant) {}

    func stop() {
        closeChannels()
        context = nil
    }

    private func closeChannels() {
        for channel in [changes, answers].compactMap({ $0 }) {
            context?.unwatch(channel.token)
            close(channel.fd)
        }
        changes = nil
        answers = nil
        step = nil
        deadline = .never
    }

    private func report(_ error: SystemError) {
        for requirement in requirements.each {
            context?.report(
                FactReading(
                    requirement,
                    .unknown,
                    text: error.description,
                    source: Self.source
                )
            )
        }
    }

    // MARK: Changes

    private func readChanges(now: MonotonicInstant) {
        for _ in 0..<32 {
            switch receive(changes) {
            case -Int(EAGAIN): return
            case -Int(EPERM): continue
            case let count where count >= 0:
                if Self.matters(buffer[..<count]) { wantList(now: now) }
            // The kernel dropped some reports: list everything again.
            case -Int(ENOBUFS), -Int(EMSGSIZE): wantList(now: now)
            case let code:
                report(SystemError("hear of networks", code: Int32(clamping: -code)))
                closeChannels()
                deadline = now + Self.retryInterval
                return
            }
        }
    }

    private static func matters(_ bytes: ArraySlice<UInt8>) -> Bool {
        do {
            return try NetlinkBytes(bytes: bytes).messages().contains(where: NetworkTable.matters)
        } catch {
            return true
        }
    }

    /// Receives one packet of messages into the buffer; returns its length, or a negative error
    /// number.
    private func receive(_ channel: Channel?) -> Int {
        guard let channel else { return -Int(EBADF) }
        return buffer.withUnsafeMutableBytes {
            bgs_netlink_receive(channel.fd, $0.baseAddress, $0.count)
        }
    }

    private func wantList(now: MonotonicInstant) {
        isOutdated = true
        guard step == nil else { return }
        deadline = max(now, listedAt + Self.restInterval)
    }

    // MARK: Lists

    private func list(now: MonotonicInstant) {
        table = NetworkTable()
        isOutdated = false
        listedAt = now
        deadline = .never
        ask(0, now: now)
    }

    private func ask(_ place: Int, now: MonotonicInstant) {
        guard let answers else { return }
        step = place
        sequence &+= 1
        let (kind, family) = Self.questions[place]
        let question = NetlinkMessage.question(kind, family: family, sequence: sequence)
        let code = question.withUnsafeBytes {
            bgs_netlink_send(answers.fd, $0.baseAddress, $0.count)
        }
        if code < 0 { fail(SystemError("list the networks", code: 0 - code), now: now) }
    }

    private func fail(_ error: SystemError, now: MonotonicInstant) {
        step = nil
        report(error)
        deadline = now + Self.retryInterval
    }

    private func readAnswers(now: MonotonicInstant) {
        // Bounded, since a router's list is long: the socket stays readable for the rest.
        for _ in 0..<32 {
            let count = receive(answers)
            guard count != -Int(EAGAIN) else { return }
            guard count != -Int(EPERM) else { continue }
            guard count >= 0 else {
                fail(SystemError("list the networks", code: Int32(clamping: -count)), now: now)
                return
            }
            do throws(NetlinkError) {
                let messages = try NetlinkBytes(bytes: buffer[..<count]).messages()
                for message in messages where message.sequence == sequence && step != nil {
                    try handle(message, now: now)
                }
            } catch {
                fail(SystemError("read the list of networks", code: EBADMSG), now: now)
                return
            }
        }
    }

    private func handle(_ message: NetlinkMessage, now: MonotonicInstant) throws(NetlinkError) {
        guard let place = step else { return }
        if message.flags & NetlinkMessage.interrupted != 0 { isOutdated = true }
        switch message.kind {
        case NetlinkMessage.error:
            let code = Int32(bitPattern: try message.payload.u32(0))
            fail(SystemError("list the networks", code: 0 &- code), now: now)
        case NetlinkMessage.done where place + 1 < Self.questions.count: ask(place + 1, now: now)
        case NetlinkMessage.done:
            step = nil
            context?.report(table.network(source: Self.source))
            context?.report(table.unmetered(metered, source: Self.source))
            if isOutdated { wantList(now: now) }
        default: try table.add(message)
        }
    }
}
