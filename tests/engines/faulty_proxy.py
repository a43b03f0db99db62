"""A proxy in front of an HTTP server that spoils answers: what a storage does on a bad day.

`faults` maps a part of a path to what happens to its GETs: "forbidden" (403, as S3 words it), "broken" (the connection
ends in the middle of the body). `served` lists the requested paths with their queries.
"""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

from patience import HANGS_S

FORBIDDEN = b'<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>'


class FaultyProxy:
    def __init__(self, host, port):
        self.faults, self.served = {}, []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path = unquote(self.path)
                proxy.served.append(path)
                fault = next((fault for part, fault in proxy.faults.items() if part in path), None)
                if fault == "forbidden":
                    return self.give(403, [("Content-Type", "application/xml")], FORBIDDEN)
                upstream = http.client.HTTPConnection(host, port, timeout=HANGS_S)
                upstream.request(self.command, self.path, body, dict(self.headers))
                given = upstream.getresponse()
                content = given.read()
                upstream.close()
                headers = [(name, value) for name, value in given.getheaders()
                           if name.lower() not in ("content-length", "transfer-encoding", "connection", "server", "date")]
                cut = len(content) // 2 if fault == "broken" and self.command == "GET" else None
                self.give(given.status, headers, content, cut, given.getheader("Content-Length"))

            def give(self, status, headers, content, cut=None, length=None):
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", length if self.command == "HEAD" and length else str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content[:cut])
                self.close_connection = cut is not None

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
