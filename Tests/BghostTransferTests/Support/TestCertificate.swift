// SPDX-License-Identifier: Apache-2.0

/// A self-signed certificate for 127.0.0.1.
///
/// Made by `openssl req -x509 -newkey ec`; the key protects nothing.
enum TestCertificate {
    static let text = """
        -----BEGIN CERTIFICATE-----
        MIIBjzCCATagAwIBAgIUE3PLFS9deNCOIRYLEEm26R8dh84wCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMTE2MDAxMVoYDzIxMjYxMDI4
        MTYwMDExWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAASb3M5fTW1Bmm/AJ36lV13Gm5lFDzt1ljic6+k5XRp6/Z/rGO+D/bO+
        /VjOzb/0HH8/UcUsxKyE2gvxfpZKLe+zo2QwYjAdBgNVHQ4EFgQU4OKIyzTa28uX
        ObtpXY3ft9FhFnwwHwYDVR0jBBgwFoAU4OKIyzTa28uXObtpXY3ft9FhFnwwDwYD
        VR0TAQH/BAUwAwEB/zAPBgNVHREECDAGhwR/AAABMAoGCCqGSM49BAMCA0cAMEQC
        ID5V92t9HlC068dx9+k0P9nuNsjjtTdUmcC5ytJjH3S+AiBHfWB85X4sgicsrGlC
        N9aEvrth95aJQDI68DqQt3e+Cg==
        -----END CERTIFICATE-----
        """
    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjvMgJ76Y9vJP32yI
        VgdXC5bgqckvXb5dqK/XWmfNru6hRANCAASb3M5fTW1Bmm/AJ36lV13Gm5lFDzt1
        ljic6+k5XRp6/Z/rGO+D/bO+/VjOzb/0HH8/UcUsxKyE2gvxfpZKLe+z
        -----END PRIVATE KEY-----
        """
}
