// SPDX-License-Identifier: Apache-2.0

import BghostBase
@testable import BghostFleetRules
import BghostFleetSupport
import BghostModel

/// The fleet in memory with one error, with which a test shows that a check of `FleetConformance` can fail.
struct BrokenFleet: PartitionStore {
    enum Flaw: CaseIterable {
        case grantsTooFew, ignoresOffers, ignoresSlots, ignoresPools, releasesForAll, keepsEpochs
        case ignoresFence, registersAlways, neverLeaves, alwaysReaps, neverReaps, renewsNothing
        case ignoresConnections, trustsStrangers
        case losesMemories, hidesRuns, mixesPartitions
        case ignoresNumbers, forgetsNumbers, remembersNumbers, comparesNothing
        case ignoresNonces, claimsOnOldConnection, refusesUnanswered
        case losesLetters, doublesLetters, movesAgain, showsAllLetters, keepsTakenLetters,
            namesNoOwners
        case listsNoRuns, listsOnlyFirstPart, listsAllTasks, losesCancels, showsAllCancels
        case showsFirstLettersOnly, showsFirstCancelsOnly
    }

    struct Harness: FleetHarness {
        var store: BrokenFleet
        private var saved: BrokenFleet?

        init(_ flaw: Flaw?) { store = BrokenFleet(flaw) }

        mutating func pass(_ nanoseconds: UInt64) { store.fleet.clock += Int64(nanoseconds) }

        mutating func save() { saved = store }

        mutating func goBack() {
            let numbers = store.numbers
            store = saved ?? store
            if store.flaw == .remembersNumbers { store.numbers = numbers }
        }
    }

    fileprivate var fleet = MemoryFleet(
        partitions: 8,
        pools: 2,
        clock: 1_795_219_200_000_000_000
    )
    fileprivate let flaw: Flaw?
    /// The newest session of each host.
    private var sessions: [HostSession] = []
    /// The last batch of each host.
    fileprivate var numbers: [Int: Int64] = [:]

    fileprivate init(_ flaw: Flaw?) {
        self.flaw = flaw
        fleet.isFenced = flaw != .ignoresFence
        fleet.comparesRows = flaw != .comparesNothing
        fleet.comparesNonces = flaw != .ignoresNonces
        fleet.claimsConnect = flaw != .claimsOnOldConnection
        fleet.keepsLettersOnce = flaw != .doublesLetters
        fleet.movesOnce = flaw != .movesAgain
    }

    private mutating func note(_ session: HostSession) -> HostSession {
        sessions.removeAll { $0.host == session.host }
        sessions.append(session)
        return session
    }

    private func used(_ session: HostSession) -> HostSession {
        let newest = sessions.first { $0.host == session.host }
        return switch flaw {
        case .ignoresConnections where newest?.incarnation == session.incarnation:
            newest ?? session
        case .trustsStrangers: newest == nil ? sessions.first ?? session : session
        default: session
        }
    }

    /// A call in the past renews the lease up to then.
    private mutating func renewing<Answer>(
        _ call: (inout MemoryFleet) throws(FleetRefusal) -> Answer
    ) throws(FleetRefusal) -> Answer {
        let clock = fleet.clock
        if flaw == .renewsNothing { fleet.clock -= 100 * Int64(FleetSample.lease) }
        defer { fleet.clock = clock }
        return try call(&fleet)
    }

    // MARK: Hosts

    func incarnation(of name: String) -> FenceNumber { fleet.incarnation(of: name) }

    mutating func register(
        _ terms: HostTerms,
        after last: FenceNumber,
        nonce: FenceNonce
    ) throws(FleetRefusal) -> HostSession {
        var terms = terms
        if flaw == .ignoresPools { terms.pools = [0] }
        if flaw == .ignoresSlots { terms.slots = 1 }
        let last = flaw == .registersAlways ? fleet.incarnation(of: terms.name) : last
        let session = note(try fleet.register(terms, after: last, nonce: nonce))
        numbers[session.host] = 0
        return session
    }

    mutating func resume(
        _ session: HostSession,
        nonce: FenceNonce
    ) throws(FleetRefusal) -> ResumedSession {
        var session = used(session)
        if flaw == .refusesUnanswered {
            session = HostSession(
                host: session.host,
                incarnation: session.incarnation,
                connection: session.connection
            )
        }
        let asked = session
        let answer = try renewing { fleet throws(FleetRefusal) in
            try fleet.resume(asked, nonce: nonce)
        }
        let last =
            switch flaw {
            case .forgetsNumbers: Int64(0)
            case .remembersNumbers: numbers[session.host] ?? 0
            default: answer.lastBatch
            }
        return ResumedSession(session: note(answer.session), lastBatch: last)
    }

    mutating func leave(_ session: HostSession) throws(FleetRefusal) {
        guard flaw != .neverLeaves else { return }
        try fleet.leave(used(session))
    }

    // MARK: Partitions

    mutating func claim(
        holding held: [PartitionID],
        mayReap: Bool,
        nonce: FenceNonce,
        _ session: HostSession
    ) throws(FleetRefusal) -> ClaimAnswer {
        let mayReap = flaw == .alwaysReaps || mayReap && flaw != .neverReaps
        var answer = try fleet.claim(
            holding: held,
            mayReap: mayReap,
            nonce: nonce,
            used(session)
        )
        answer.session = note(answer.session)
        if flaw == .grantsTooFew { answer.grants = Array(answer.grants.dropLast()) }
        if flaw == .keepsEpochs {
            answer.grants = answer.grants.map { PartitionGrant($0.partition, epoch: 1) }
        }
        return answer
    }

    mutating func offer(slots: Int, _ session: HostSession) throws(FleetRefusal) {
        try fleet.offer(slots: flaw == .ignoresOffers ? 2 : slots, used(session))
    }

    mutating func release(
        _ partitions: [PartitionID],
        _ session: HostSession
    ) throws(FleetRefusal) {
        try fleet.release(partitions, used(session))
        guard flaw == .releasesForAll else { return }
        for other in sessions where other.host != session.host {
            try fleet.release(partitions, other)
        }
    }

    func owners() -> [PartitionID: String] { flaw == .namesNoOwners ? [:] : fleet.owners() }

    // MARK: Submissions

    mutating func post(_ letters: [FleetLetter]) throws(FleetRefusal) {
        guard flaw != .losesLetters else { return }
        try fleet.post(letters)
    }

    mutating func move(_ letters: [FleetLetter]) throws(FleetRefusal) {
        try fleet.move(letters)
    }

    func letters(after number: Int64, limit: Int, _ session: HostSession) -> FleetLetterPage {
        let number = flaw == .showsFirstLettersOnly ? -1 : number
        var page = fleet.letters(after: number, limit: limit, session)
        if flaw == .showsAllLetters {
            page.letters = sessions.flatMap {
                fleet.letters(after: number, limit: limit, $0).letters
            }
        }
        return page
    }

    // MARK: Questions

    func page(_ question: FleetQuestion) throws(FleetRefusal) -> FleetPage {
        var question = question
        if flaw == .listsAllTasks { question.tasks = nil }
        var page = try fleet.page(question)
        if flaw == .listsNoRuns { page.rows.removeAll { $0.state == .running } }
        if flaw == .listsOnlyFirstPart { page.next = nil }
        return page
    }

    mutating func cancel(_ request: RunID) -> FleetCancelAnswer? { fleet.cancel(request) }

    mutating func cancels(
        after request: RunID?,
        limit: Int,
        _ session: HostSession
    ) -> FleetCancelPage {
        var page = fleet.cancels(
            after: flaw == .showsFirstCancelsOnly ? nil : request,
            limit: limit,
            session
        )
        if flaw == .losesCancels { page.cancels = [] }
        if flaw == .showsAllCancels {
            page.cancels = sessions.flatMap {
                fleet.cancels(after: request, limit: limit, $0).cancels
            }
        }
        return page
    }

    // MARK: Requests

    mutating func commit(
        _ batch: FleetBatch,
        number: Int64,
        _ session: HostSession
    ) throws(FleetRefusal) -> Int64 {
        let session = used(session)
        var batch = batch
        if flaw == .losesMemories { batch.memories = [] }
        if flaw == .keepsTakenLetters { batch.taken = [] }
        let next = (numbers[session.host] ?? 0) + 1
        let kept = flaw == .ignoresNumbers ? next : number
        let sent = batch
        let clock = try renewing { fleet throws(FleetRefusal) in
            try fleet.commit(sent, number: kept, session)
        }
        numbers[session.host] = kept
        return clock
    }

    mutating func contents(
        of partition: PartitionID,
        after place: ContentsPlace?
    ) throws(FleetRefusal) -> ContentsPage {
        var page = try fleet.contents(of: partition, after: place)
        if flaw == .hidesRuns { page.contents.interrupted = [] }
        if flaw == .mixesPartitions {
            for number in 0..<UInt16(8) where number != partition.number {
                page.contents.pending += try fleet.contents(of: PartitionID(number: number)).pending
            }
        }
        return page
    }
}
