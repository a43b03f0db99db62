"""`serve --web-config`: TLS and passwords by the file of Prometheus exporters, seen with Python's own TLS client."""

import base64
import http.client
import ssl
import subprocess
from pathlib import Path

import pytest
from test_serve import TIMEOUT_S, REPLAY, serve

HASH = "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW"  # of "secret"


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """A folder with server.crt, server.key, and client.crt, client.key, all signed by themselves."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("server", "client"):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder / f"{name}.key",
                        "-out", folder / f"{name}.crt"], check=True, capture_output=True)
    return folder


def written(folder, text):
    file = Path(folder) / "web.yml"
    file.write_text(text)
    return str(file)


def fetch(port, context, path="/metrics", password=None):
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=TIMEOUT_S, context=context)
    headers = {} if password is None else {"Authorization": "Basic " + base64.b64encode(f"me:{password}".encode()).decode()}
    try:
        connection.request("GET", path, headers=headers)
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


def trusting(keys, client=False):
    context = ssl.create_default_context(cafile=keys / "server.crt")
    if client:
        context.load_cert_chain(keys / "client.crt", keys / "client.key")
    return context


def test_passwords_without_tls(program, tmp_path):
    config = written(tmp_path, f"basic_auth_users:\n  me: {HASH}\n")
    with serve(program, "--backend", REPLAY, "--web-config", config) as server:
        status, headers, _ = server.ask()
        assert (status, headers["WWW-Authenticate"].split()[0]) == (401, "Basic")
        assert server.ask("/healthz")[0] == 401
        right = {"Authorization": "Basic " + base64.b64encode(b"me:secret").decode()}
        assert [server.ask(headers=right)[0] for _ in range(2)] == [200, 200]
        assert server.ask(headers={"Authorization": "Basic " + base64.b64encode(b"me:Secret").decode()})[0] == 401


def test_tls_with_a_password(program, keys):
    config = written(keys, f"tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\nbasic_auth_users:\n  me: {HASH}\n")
    with serve(program, "--backend", REPLAY, "--web-config", config) as server:
        assert any("https://" in line for line in server.said)
        assert fetch(server.port, trusting(keys))[0] == 401
        status, page = fetch(server.port, trusting(keys), password="secret")
        assert (status, "gpu_profile_build_info" in page) == (200, True)
        with pytest.raises(ssl.SSLCertVerificationError):
            fetch(server.port, ssl.create_default_context())
        with pytest.raises((http.client.HTTPException, OSError)):  # plain HTTP
            server.ask()


def test_clients_need_a_certificate_of_the_authority(program, keys):
    config = written(keys, "tls_server_config: {cert_file: server.crt, key_file: server.key, min_version: TLS13, "
                           "client_auth_type: RequireAndVerifyClientCert, client_ca_file: client.crt}\n")
    with serve(program, "--backend", REPLAY, "--web-config", config) as server:
        assert fetch(server.port, trusting(keys, client=True))[0] == 200
        older = trusting(keys, client=True)
        older.maximum_version = ssl.TLSVersion.TLSv1_2
        with pytest.raises(ssl.SSLError):
            fetch(server.port, older)
        with pytest.raises((ssl.SSLError, OSError, http.client.HTTPException)):
            fetch(server.port, trusting(keys))


@pytest.mark.parametrize(("text", "said"), [
    ("http_server_config: {http2: true}\n", "http_server_config is not supported"),
    ("tls_server_config: {cert_file: missing.crt, key_file: server.key}\n", "cannot use tls_server_config: cert_file"),
    ("tls_server_config: {cert_file: server.crt, key_file: client.key}\n", "cannot use tls_server_config: key_file"),
    ("basic_auth_users: {me: secret}\n", "the password of 'me' is not a bcrypt hash"),
])
def test_a_configuration_that_cannot_be_used_starts_no_server(program, keys, text, said):
    done = program.run("serve", "--prometheus", ":0", "--backend", REPLAY, "--web-config", written(keys, text))
    assert done.status == 2
    assert said in done.stderr.decode()
