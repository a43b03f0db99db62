"""Headless Firefox, controlled by its protocol (Marionette): messages `LENGTH:[type, id, ...]` of JSON over a socket,
type 0 for a command with its name and parameters, 1 for the reply with an error and a result."""

import base64
import json
import socket
import subprocess
import time

START = 60  # seconds for Firefox to start listening
SETTINGS = {"marionette.port": 0, "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False, "app.update.enabled": False}


class Firefox:
    def __init__(self, program, profile):
        (profile / "user.js").write_text("".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in SETTINGS.items()))
        # Reading the console requires access to the browser's own scripts.
        self.process = subprocess.Popen([program, "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", profile],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.sent = 0
        try:
            self.socket = socket.create_connection(("127.0.0.1", self._port(profile / "MarionetteActivePort")), timeout=START)
            self.replies = self.socket.makefile("rb")
            self._receive()  # the greeting
            self.call("WebDriver:NewSession", capabilities={})
        except BaseException:
            self.close()
            raise

    def _port(self, written):
        until = time.monotonic() + START
        while self.process.poll() is None and time.monotonic() < until:
            if written.exists() and (text := written.read_text()):
                return int(text)
            time.sleep(0.05)
        raise RuntimeError("Firefox does not listen")

    def _receive(self):
        length = 0
        while (digit := self.replies.read(1)) != b":":
            length = length * 10 + int(digit)
        return json.loads(self.replies.read(length))

    def call(self, command, **parameters):
        self.sent += 1
        text = json.dumps([0, self.sent, command, parameters]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self._receive()
        if error:
            raise RuntimeError(f"{command}: {error['message']}")
        return result["value"] if isinstance(result, dict) and "value" in result else result

    def run(self, script, *arguments):
        """Return the value of a function's body; waits for a promise."""
        return self.call("WebDriver:ExecuteScript", script=script, args=list(arguments), scriptTimeout=1000 * START)

    def wait(self, condition, seconds=30):
        """Wait until an expression of the page is true."""
        until = time.monotonic() + seconds
        while not self.run(f"return Boolean({condition})"):
            if time.monotonic() > until:
                raise TimeoutError(condition)
            time.sleep(0.05)

    def type(self, text):
        keys = [{"type": way, "value": key} for key in text for way in ("keyDown", "keyUp")]
        self.call("WebDriver:PerformActions", actions=[{"type": "key", "id": "keys", "actions": keys}])

    def click(self, x, y):
        actions = [{"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self.call("WebDriver:PerformActions", actions=[{"type": "pointer", "id": "mouse", "actions": actions}])

    def errors(self):
        """Return errors of page scripts, and blocked requests, since the last call."""
        self.call("Marionette:SetContext", value="chrome")
        found = self.run("""
            const all = Services.console.getMessageArray().filter((one) => one instanceof Ci.nsIScriptError && !(one.flags & 1));
            Services.console.reset();
            return all.filter((one) => /^(file|http|blob):/.test(one.sourceName)).map((one) => one.errorMessage);""")  # not the browser's
        self.call("Marionette:SetContext", value="content")
        return found

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.call("WebDriver:TakeScreenshot", full=False, hash=False)))

    def close(self):
        self.process.terminate()
        self.process.wait(START)
