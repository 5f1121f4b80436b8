# SPDX-License-Identifier: Apache-2.0
"""A client of the dashboard's port that asks and does not read."""

import json
import re
import socket
from urllib.parse import urlsplit

import pytest
from conftest import expect, goto


def test_a_client_that_takes_no_answer_is_cut_off(host, session, page):
    value, address = session
    place = urlsplit(address)
    question = f"GET /v1/status HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: Bearer {json.loads(value)['token']}\r\n\r\n".encode()
    client = socket.socket()
    with client:
        # So that few answers fill the way to it.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect((place.hostname, place.port))
        # The daemon reads no more while its answers lie there, and closes the connection after a while.
        client.settimeout(300)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            while True:
                client.sendall(question)
    # Others had their answers all the time.
    goto(page, "#/tasks")
    with page.expect_response(re.compile("/v1/status")) as answer:
        pass
    assert answer.value.status == 200
    expect(page.get_by_text("The daemon has not answered since")).to_have_count(0)
