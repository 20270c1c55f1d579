"""What scenarios, results and programs say is printed into the logs of CI services, by runs that hold secrets, and on terminals: no format
may carry a command to either. The judges are the rules by which the runners read their logs.

MEMSWEEP_TEST_TEXTS   rounds, each with other texts in other places; 2 unless told
"""

import os
import re
import unittest

from memsweep_cli import BINARY, execute, rng
from test_formats import FORMATS, WithResults, with_hostile_names

ROUNDS = int(os.environ.get("MEMSWEEP_TEST_TEXTS") or 2)
BLANKS = [chr(value) for value in (*range(0x9, 0xE), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)]
COMMANDS = ["::set-env name=OWNED::1", "::error::OWNED", "::add-mask::OWNED", "::stop-commands::OWNED", "##[set-env name=OWNED]", "##[error]OWNED",
            "##vso[task.setvariable variable=OWNED]1", "##teamcity[OWNED]", "###[error]OWNED"]
STEERING = ["\x1b[2J\x1b]0;OWNED\x07", "\u009b2J", "\u202eOWNED\u2066", "\x00\x08\x7f", "\x1b[0Ksection_start:1:OWNED\r\x1b[0K", "\u200f\u061c"]
OURS = ("error", "warning", "notice")


def commands_in(text, own=False):
    """Lines that a runner would obey. `own`: memsweep's annotations are meant."""
    found = []
    for line in re.split(r"\r\n|\r|\n", text):
        github = re.match(r"::([^ :]+)(?: ([^:]*(?::(?!:)[^:]*)*))?::", line.strip("".join(BLANKS)))  # actions/runner, ActionCommand.TryParseV2
        is_own = own and github and github[1] in OURS and (github[2] or "").startswith("title=")
        if (github and not is_own) or re.search(r"##(\[|vso\[|teamcity\[)", line):  # TryParse, azure-pipelines-agent's Command, TeamCity's service messages
            found.append(line)
    return found


def steering_in(text):
    """Characters that a terminal or its reader would be steered by, other than our colours."""
    return re.findall("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]", re.sub("\x1b\\[[0-9;]*m", "", text.replace("\r\n", "\n")))


def on_terminal(*words, cwd):
    pid, terminal = os.forkpty()
    if pid == 0:
        os.chdir(cwd)
        os.execv(BINARY, [os.fspath(BINARY), *words])
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.waitpid(pid, 0)
    os.close(terminal)
    return shown.decode("utf-8", "replace")


class HostileText(WithResults):
    def test_the_judges(self):
        for blank in ("", *BLANKS):
            for command in COMMANDS:
                self.assertTrue(commands_in(f"x\n{blank}{command}\ny"), repr(blank + command))
        self.assertFalse(commands_in("a::b ::error::x\n# # [x]\n::error title=x::y", own=True))
        self.assertTrue(all(steering_in(text) for text in STEERING))

    def texts(self, random):
        texts = [random.choice(("", "x\n", "x\r")) + random.choice(["", *BLANKS]) + command + random.choice(("", "\ny")) for command in COMMANDS * 4]
        texts += STEERING
        random.shuffle(texts)
        return texts

    def test_every_format(self):
        random = rng("hostile text")
        for _ in range(ROUNDS):
            texts = self.texts(random)
            for name in ("document", "good"):
                self.write(f"{name}.json", with_hostile_names(getattr(self, name), texts))
            for form in FORMATS:
                for name in ("document", "good"):
                    with self.subTest(form, result=name):
                        done = execute("report", f"{name}.json", "-f", form, cwd=self.folder)
                        self.assertEqual(done.code, 0, f"\n{done}")
                        self.assertEqual(commands_in(done.out.decode("utf-8", "replace"), form.startswith("gha")), [])
                        self.assertEqual(commands_in(done.errors), [])
                        self.assertEqual(steering_in(on_terminal("report", f"{name}.json", "-f", form, cwd=self.folder)), [])
            for form in ("text", "md", "json", "junit", "html"):
                with self.subTest(form, command="compare"):
                    words = ("compare", "document.json", "good.json", "-f", form)
                    done = execute(*words, cwd=self.folder)
                    self.assertEqual(commands_in(done.out.decode("utf-8", "replace") + done.errors), [])
                    self.assertEqual(steering_in(on_terminal(*words, cwd=self.folder)), [])

    def test_names_of_files_and_programs(self):
        random = rng("hostile names")
        for text in (text.replace("\0", "") for text in self.texts(random)):
            for words in (["report", text], ["validate", text], ["import", text, "-o", "t.mst"], ["info", text], ["run", "-n", "1", "--", text], [text],
                          ["run", "--" + text], ["run", "document.json", "-k", text], ["compare", text, text], ["record", "--", text]):
                with self.subTest(words=words):
                    done = execute(*words, cwd=self.folder)
                    self.assertEqual(commands_in(done.out.decode("utf-8", "replace") + "\n" + done.errors), [])


if __name__ == "__main__":
    unittest.main()
