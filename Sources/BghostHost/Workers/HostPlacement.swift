// SPDX-License-Identifier: Apache-2.0

internal import BghostCore
internal import BghostLinux
internal import Glibc

/// Where the reactor and the carriers of short runs are kept while those follow one another.
///
/// To wake a processor that idles takes longer than such a run: 25 to 30 us each way where a switch on
/// one processor takes 2.
struct Placement {
    /// All that the daemon may use.
    let everywhere: ProcessorSet?
    /// The one on which the reactor is kept; `nil` as long as nothing is.
    var core: ProcessorSet?
    /// The carriers that are kept there too.
    var kept: [Carrier] = []
    /// When all of it was last begun.
    var begunAt: UInt64 = 0
    /// When a run last began there.
    var lastBegin: UInt64 = 0
    /// Nothing is kept before this.
    var notBefore: UInt64 = 0
    /// The deadline that is armed; `.max` is none.
    var due: UInt64 = .max

    init() {
        let own = ProcessorSet.ofThisThread
        // With one processor there is nothing to choose.
        everywhere = own.map(\.count) ?? 1 > 1 ? own : nil
    }

    /// A worker with more threads is left alone: to place each would take longer than its run.
    static let threadsMax: Int32 = 64
}

extension Host {
    /// A run is about to be handed to a carrier.
    ///
    /// If it is the only one and is likely to be short, the carrier is brought to the reactor's
    /// processor. With several under way, processors are there to be used.
    func keepNear(_ carrier: Carrier) {
        guard let everywhere = placement.everywhere else { return }
        carrier.begunAt = now
        guard runs.count == 1, carrier.isQuick, !reactor.isUrgent, now >= placement.notBefore else {
            // To place threads again and again would take longer than the runs, where those come now
            // alone and now together.
            if runs.count > 1 { placement.notBefore = now &+ patience.shortRun * 100 }
            letGo()
            return
        }
        if placement.core == nil {
            guard let core = ProcessorSet.current, core.take(thread: 0) else { return }
            placement.core = core
            placement.begunAt = now
        }
        guard let core = placement.core else { return }
        if !carrier.isKept {
            // Noted first, so that what has been placed when it fails is let go too.
            carrier.isKept = true
            placement.kept.append(carrier)
            guard carrier.keep(on: core, insteadOf: everywhere) else {
                carrier.isQuick = false
                letGo()
                return
            }
        }
        placement.lastBegin = now
        armPlacement(now &+ patience.shortRun)
    }

    /// A run has left its carrier: from how long that took is seen what the next one may take.
    func noteDuration(_ carrier: Carrier) {
        guard placement.everywhere != nil else { return }
        // Over two processors the way there and back takes as long as the longest of short runs.
        let limit = carrier.isKept ? patience.shortRun : patience.shortRun * 2
        carrier.isQuick = now &- carrier.begunAt < limit
    }

    /// Looks whether the run that is kept here is short, and whether others still come.
    func placementDue() {
        placement.due = .max
        guard placement.core != nil else { return }
        // Threads that are made meanwhile are kept too, and are not to be for long.
        guard now &- placement.begunAt < patience.shortRun * 1000 else { return letGo() }
        if let busy = placement.kept.first(where: { !$0.isIdle }) {
            let limit = busy.begunAt &+ patience.shortRun
            guard now < limit else {
                busy.isQuick = false
                return letGo()
            }
            armPlacement(limit)
        } else {
            let limit = placement.lastBegin &+ patience.shortRun * 10
            guard now < limit else { return letGo() }
            armPlacement(limit)
        }
    }

    private func armPlacement(_ deadline: UInt64) {
        guard deadline < placement.due else { return }
        let wasArmed = placement.due != .max
        placement.due = deadline
        arm(deadline, token: TimerToken.placement.raw)
        if wasArmed { timers.forget(isLive: isLive) }
    }

    /// The reactor's thread, for those who want to know where it runs.
    package var reactorThread: Int32 { reactor.threadID }

    /// Lets everything run everywhere again, with all threads that were made meanwhile.
    func letGo() {
        guard let core = placement.core, let everywhere = placement.everywhere else { return }
        placement.core = nil
        for carrier in placement.kept {
            carrier.isKept = false
            carrier.letGo(from: core, to: everywhere)
        }
        placement.kept.removeAll(keepingCapacity: true)
        // The reactor itself, and what it has made: a thread begins where its maker is.
        core.give(threadsOf: getpid(), to: everywhere)
    }
}
