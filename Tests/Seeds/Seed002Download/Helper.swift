// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file

// "SwiftUIアプリでバックグラウンドタスクの実行": the helper, as it stands there.

import BackgroundFoundation

class DataFetchHelper: NSObject, URLSessionDownloadDelegate {
    
    static let shared = DataFetchHelper(backgroundTaskIdentifier: "com.test.test.fetchRemoteData")
    
    private var urlSession: URLSession?
    
    init(backgroundTaskIdentifier: String) {
        super.init()
        let config = URLSessionConfiguration.background(withIdentifier: backgroundTaskIdentifier)
        config.sessionSendsLaunchEvents = true
        self.urlSession = URLSession(configuration: config, delegate: self, delegateQueue: nil)
    }
    
    func startRequestingQiitaWebsite() {
        let request = URLRequest(url: URL(string: "https://qiita.com")!)
        let task = urlSession?.downloadTask(with: request)
        task?.resume()
    }
    
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {
        if let textData = try? String(contentsOf: location, encoding: .utf8) {
            print(textData)
        }
    }
    
}
