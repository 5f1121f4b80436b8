// SPDX-License-Identifier: Apache-2.0

internal import BackgroundTasks
internal import FoundationEssentials

extension URLSessionTask {
    /// The task of a transfer that another run or session object has started.
    ///
    /// Its request has the URL and the method alone, which is what the host lists.
    static func of(_ record: TransferRecord, in session: URLSession) -> URLSessionTask {
        var request = URLRequest(url: URL(string: record.url) ?? URL(filePath: "/"))
        if let method = record.method { request.httpMethod = method }
        let file = record.upload ? record.path.map { URL(filePath: $0) } : nil
        let task = kind(of: record, in: session).init(session, request, file, nil, of: record.id)
        task.note(record)
        return task
    }

    private static func kind(
        of record: TransferRecord,
        in session: URLSession
    ) -> URLSessionTask.Type {
        if record.upload { return URLSessionUploadTask.self }
        // The host omits continuations if many transfers end at once; then the delegate decides.
        let takesData =
            session.delegate is any URLSessionDataDelegate
            && !(session.delegate is any URLSessionDownloadDelegate)
        return record.isData ?? takesData ? URLSessionDataTask.self : URLSessionDownloadTask.self
    }
}
