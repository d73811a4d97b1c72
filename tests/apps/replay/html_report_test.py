"""Opens reports of `perigee replay --html` in a headless Chromium: every plot is drawn, the
console is silent, and nothing outside the page is asked for.

    html_report_test.py PERIGEE GOLDEN_FOLDER MODEL.gguf

Leaves 77, which means "skipped", if there is no Chromium."""

import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile

PLOTS = ["ttft", "tbt", "load", "requests", "rejected", "hits", "bytes", "replicas", "busy"]
SKIPPED = 77


class Drawn(html.parser.HTMLParser):
    """How many lines and bars each plot has, and which plots say that they are done."""

    def __init__(self):
        super().__init__()
        self.marks, self.done, self.texts, self.at = {}, set(), "", None

    def handle_starttag(self, tag, attributes):
        has = dict(attributes)
        if "data-plot" in has:
            self.at = has["data-plot"]
            self.marks[self.at] = 0
        if self.at and tag == "svg" and has.get("data-drawn") == "yes":
            self.done.add(self.at)
        is_mark = tag == "rect" or (tag == "path" and has.get("class") == "line")
        if self.at and is_mark and "NaN" not in str(has):
            self.marks[self.at] += 1

    def handle_endtag(self, tag):
        if tag == "figure":
            self.at = None

    def handle_data(self, data):
        if self.at:
            self.texts += data + "\n"


def run(*command, **how):
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300,
                          **how)


def replay(perigee, folder, golden, model, *more):
    shutil.copy(os.path.join(golden, "cluster.toml"), folder)
    run(perigee, "workload", "generate", "--like", "conversation", "--requests", "200",
        "--seed", "7", "--out", "trace.jsonl", cwd=folder)
    run(perigee, "replay", "cluster.toml", "trace.jsonl", "--set", f"model.path={model}",
        "--html", "report.html", *more, cwd=folder)
    return os.path.join(folder, "report.html")


def open_page(chromium, page, folder):
    """The page's elements once its scripts have run, and what they said on the console."""
    shown = run(chromium, "--headless", "--no-sandbox", "--disable-gpu",
                "--enable-logging=stderr", f"--user-data-dir={folder}/profile",
                "--virtual-time-budget=20000", "--dump-dom", f"file://{page}")
    return shown.stdout, [line for line in shown.stderr.splitlines() if "CONSOLE" in line]


def check(chromium, page, folder, filled):
    dom, console = open_page(chromium, page, folder)
    assert not console, console
    seen = Drawn()
    seen.feed(re.sub(r"(?s)<script.*?</script>", "", dom))
    assert sorted(seen.marks) == sorted(PLOTS), seen.marks
    assert seen.done == set(PLOTS), set(PLOTS) - seen.done
    for plot in filled:
        assert seen.marks[plot] > 0, f"{plot} has neither line nor bar"
    return seen


def main():
    perigee, golden, model = sys.argv[1:]
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        print("skipped: there is no chromium; tools/setup.sh installs it")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        page = replay(perigee, folder, golden, model)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        outside = re.findall(r"<(?:link|img|iframe)\b|\bsrc=|url\(|@import", text.split(
            '<script id="report"')[0])
        assert not outside, outside
        seen = check(chromium, page, folder, PLOTS)
        assert "limit 8,000 ms" in seen.texts or "limit 8.0 s" in seen.texts, seen.texts
        # Nobody is served, or only one comes: each plot says so, or has little to show.
        page = replay(perigee, folder, golden, model, "--set",
                      "limits.request_limit_ms=100")
        seen = check(chromium, page, folder, ["requests", "busy"])
        assert "no request has one" in seen.texts
        page = replay(perigee, folder, golden, model, "--first", "1")
        check(chromium, page, folder, [])
    return 0


if __name__ == "__main__":
    sys.exit(main())
