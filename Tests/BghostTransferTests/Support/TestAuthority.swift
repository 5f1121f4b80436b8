// SPDX-License-Identifier: Apache-2.0

import BghostTestSupport
import NIOSSL

/// An authority that no system knows, and servers that it has vouched for.
///
/// Made by `openssl`; the authority's own key is gone, and the servers' protects nothing.
enum TestAuthority {
    /// For whom and when a server's certificate is.
    enum Server: String, CaseIterable, Sendable {
        /// 127.0.0.1 and files.example, until 2126.
        case good
        /// other.example, until 2126.
        case other
        /// 127.0.0.1 and files.example, until 2021.
        case expired
    }

    /// What `c_rehash` calls its certificate.
    static let hashedName = "5c76184a.0"

    /// Puts its certificate into a file.
    static func write(to folder: TemporaryDirectory, as name: String = "ca.pem") throws -> String {
        try folder.write(text, to: name)
    }

    /// What a server speaks TLS with.
    static func context(
        _ server: Server,
        newest: TLSVersion? = nil
    ) throws -> NIOSSLContext {
        let text =
            switch server {
            case .good: good
            case .other: other
            case .expired: expired
            }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [
                .certificate(try NIOSSLCertificate(bytes: Array(text.utf8), format: .pem))
            ],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem))
        )
        configuration.maximumTLSVersion = newest
        return try NIOSSLContext(configuration: configuration)
    }

    private static let text = """
        -----BEGIN CERTIFICATE-----
        MIIBqDCCAU2gAwIBAgIUODVHANByOlTwBMcvlkMN+/xoyGMwCgYIKoZIzj0EAwIw
        IDEeMBwGA1UEAwwVYmdob3N0IHRlc3QgYXV0aG9yaXR5MCAXDTI2MTEyMTIyMDIz
        M1oYDzIxMjYxMDI4MjIwMjMzWjAgMR4wHAYDVQQDDBViZ2hvc3QgdGVzdCBhdXRo
        b3JpdHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQo2lXCyd71DWKAP/HZ7ONl
        wt0F2VAFu8q14nS2XnTwi/plx1iSLRU6xIjB+ZxHQZb8TWEAb309Sa+xFZvIBzPt
        o2MwYTAdBgNVHQ4EFgQUxa2o12xw1YmUvO+W5ZendElw0A0wHwYDVR0jBBgwFoAU
        xa2o12xw1YmUvO+W5ZendElw0A0wDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E
        BAMCAQYwCgYIKoZIzj0EAwIDSQAwRgIhAI5+F2TKUHpy5LZ3CSUvpLOjJ6zEDrhN
        RX66O0VE3Yb5AiEA8oQyL3LWD68OQq2Hf5vCqCGGO9rT4aFJ0dUwZqjM/a4=
        -----END CERTIFICATE-----
        """
    private static let good = """
        -----BEGIN CERTIFICATE-----
        MIIBuTCCAWCgAwIBAgIEA8p53TAKBggqhkjOPQQDAjAgMR4wHAYDVQQDDBViZ2hv
        c3QgdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIxMjIwMjMzWhgPMjEyNjEwMjgyMjAy
        MzNaMA8xDTALBgNVBAMMBGdvb2QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARg
        Yxidq2j+G1eDv34Oe9Q/eepzn2TiCSvifkjGuGIezG0hzk0y7VsddonFt6Dnii1E
        yVtRkR3dA2r5bNF/tAHWo4GWMIGTMAwGA1UdEwEB/wQCMAAwDgYDVR0PAQH/BAQD
        AgeAMBMGA1UdJQQMMAoGCCsGAQUFBwMBMB4GA1UdEQQXMBWHBH8AAAGCDWZpbGVz
        LmV4YW1wbGUwHQYDVR0OBBYEFN4E/QCUnFfks+RYJvx5lEWt0SGeMB8GA1UdIwQY
        MBaAFMWtqNdscNWJlLzvluWXp3RJcNANMAoGCCqGSM49BAMCA0cAMEQCIGMBavlm
        88pAMGkk0TWDjSi1Z4hsDVwYMB1f1+KisLYTAiAIrEU4JmrAqbrSMKViG1qw4fOL
        RULSTKe146xHxgz+2w==
        -----END CERTIFICATE-----
        """
    private static let other = """
        -----BEGIN CERTIFICATE-----
        MIIBtjCCAVugAwIBAgIEEwjKZTAKBggqhkjOPQQDAjAgMR4wHAYDVQQDDBViZ2hv
        c3QgdGVzdCBhdXRob3JpdHkwIBcNMjYxMTIxMjIwMjMzWhgPMjEyNjEwMjgyMjAy
        MzNaMBAxDjAMBgNVBAMMBW90aGVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
        YGMYnato/htXg79+DnvUP3nqc59k4gkr4n5IxrhiHsxtIc5NMu1bHXaJxbeg54ot
        RMlbUZEd3QNq+WzRf7QB1qOBkDCBjTAMBgNVHRMBAf8EAjAAMA4GA1UdDwEB/wQE
        AwIHgDATBgNVHSUEDDAKBggrBgEFBQcDATAYBgNVHREEETAPgg1vdGhlci5leGFt
        cGxlMB0GA1UdDgQWBBTeBP0AlJxX5LPkWCb8eZRFrdEhnjAfBgNVHSMEGDAWgBTF
        rajXbHDViZS875bll6d0SXDQDTAKBggqhkjOPQQDAgNJADBGAiEA8BP2X+hckuWW
        eqmqT5LXgu92F3UVfw+qYVlm2/22xQkCIQCRYD1SDTTwXqkG1DmV2kHBEf1aTlSs
        B2aEERU5b3Y6Hg==
        -----END CERTIFICATE-----
        """
    private static let expired = """
        -----BEGIN CERTIFICATE-----
        MIIBuTCCAV+gAwIBAgICEAAwCgYIKoZIzj0EAwIwIDEeMBwGA1UEAwwVYmdob3N0
        IHRlc3QgYXV0aG9yaXR5MB4XDTIwMDEwMTAwMDAwMFoXDTIxMDEwMTAwMDAwMFow
        EjEQMA4GA1UEAwwHZXhwaXJlZDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGBj
        GJ2raP4bV4O/fg571D956nOfZOIJK+J+SMa4Yh7MbSHOTTLtWx12icW3oOeKLUTJ
        W1GRHd0Davls0X+0AdajgZYwgZMwDAYDVR0TAQH/BAIwADAOBgNVHQ8BAf8EBAMC
        B4AwEwYDVR0lBAwwCgYIKwYBBQUHAwEwHgYDVR0RBBcwFYcEfwAAAYINZmlsZXMu
        ZXhhbXBsZTAdBgNVHQ4EFgQU3gT9AJScV+Sz5Fgm/HmURa3RIZ4wHwYDVR0jBBgw
        FoAUxa2o12xw1YmUvO+W5ZendElw0A0wCgYIKoZIzj0EAwIDSAAwRQIgS2blfzku
        OYRIAIGGJov393EB3FPdcRATowzfXbPKRcQCIQCgu5zP/DqeQ4oRskOp53AzOHMJ
        Re35AZlijaZ7JBnk/g==
        -----END CERTIFICATE-----
        """
    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5vx9XxfZ95vdQ3Wf
        ZIdvHK4kMtsuwqJSujXK7RMQJtahRANCAARgYxidq2j+G1eDv34Oe9Q/eepzn2Ti
        CSvifkjGuGIezG0hzk0y7VsddonFt6Dnii1EyVtRkR3dA2r5bNF/tAHW
        -----END PRIVATE KEY-----
        """
}
