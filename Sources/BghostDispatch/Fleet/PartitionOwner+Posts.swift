// SPDX-License-Identifier: Apache-2.0

internal import BghostBase
internal import BghostFleetRules
internal import BghostModel
internal import BghostPolicy
internal import BghostStore

/// A submission on its way to the fleet's store, with the caller that waits.
struct FleetPost {
    let letter: FleetLetter
    /// Whether it comes from this host's own store, where it stays until the fleet has it.
    var isMove = false
    let completion: (Result<Void, StoreError>) -> Void

    init(
        _ letter: FleetLetter,
        isMove: Bool = false,
        completion: @escaping (Result<Void, StoreError>) -> Void
    ) {
        self.letter = letter
        self.isMove = isMove
        self.completion = completion
    }

    var bytes: Int { letter.request.parameters.utf8.count }
}

/// Submissions on their way to the fleet's store.
extension PartitionOwner {
    func post(_ post: FleetPost) {
        guard thread != nil, !isLeaving else {
            let reason = "this host does not take part in the fleet now"
            return post.completion(.failure(StoreError(reason)))
        }
        guard posts.count < Self.postsMax, postBytes + post.bytes <= Self.postBytesMax else {
            let reason =
                "\(posts.count) submissions wait for the fleet's store, which is too slow or does not answer;"
                + " `bghost status --fleet` says more"
            return post.completion(.failure(StoreError(reason)))
        }
        postBytes += post.bytes
        posts.append(post)
        schedule()
    }

    /// Sends the first of the submissions, as many as one call has; all of them are new, or all are moved.
    func sendPosts() {
        let isMove = posts[0].isMove
        var (count, bytes) = (0, 0)
        for post in posts.prefix(Self.lettersMax) {
            bytes += post.bytes
            guard post.isMove == isMove, count == 0 || bytes <= FleetCall.bytesMax else { break }
            count += 1
        }
        let sent = Array(posts.prefix(count))
        posts.removeFirst(count)
        postBytes -= sent.reduce(0) { $0 + $1.bytes }
        posting = sent
        let letters = sent.map(\.letter)
        call { store throws(FleetRefusal) in
            if isMove { try store.move(letters) } else { try store.post(letters) }
        } then: { owner, answer in
            owner.posted(answer)
        }
    }

    private func posted(_ answer: Result<Void, FleetRefusal>) {
        let sent = posting
        posting = []
        switch answer {
        case .success:
            for post in sent {
                let isOwn = dispatcher.scheduler.owns(PartitionID(of: post.letter.request.task))
                if isOwn, !post.isMove { inbound.insert(post.letter.request.id) }
                post.completion(.success(()))
            }
            nextLook = .zero
            if posts.isEmpty { moveLeftovers() }
        case .failure(let refusal):
            let error = StoreError(
                "the fleet's store has not confirmed it, and may have it all the same:"
                    + " \(refusal.reason)"
            )
            for post in sent { post.completion(.failure(error)) }
        }
    }

    // MARK: Requests of this host's own store

    /// Moves some of the requests that were stored here before their task had `"runs": "inFleet"`; the others
    /// follow when the fleet's store has these.
    ///
    /// One whose move has no answer is moved again: the store keeps each once.
    func moveLeftovers() {
        let moved = leftovers.prefix(Self.lettersMax)
        leftovers = leftovers.dropFirst(moved.count)
        for request in moved {
            post(
                FleetPost(FleetLetter(request, .append), isMove: true) { [unowned self] result in
                    switch result {
                    // It ends here without a word. Only here: this host may own it in the fleet by now.
                    case .success: commits.commitLocally([.closed(request.id, .replaced)])
                    case .failure: leftovers.append(request)
                    }
                }
            )
        }
    }
}
