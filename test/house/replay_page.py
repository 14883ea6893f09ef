"""The page of `octep replay --html` in a browser that has no network: every chart is painted, and the figures are the report's.

A script that the page knows nothing of is put in front of its own; it hears of errors, of what the page's policy forbids and of
what it asks a network for, presses every button, counts the pixels of every canvas, and writes what it found into the page.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

OPTIONS = ["--nat", "--compare", "fast_make_log2=2", "--compare-device", "--set", "poll_ms=900"]
CAPTURE = "test/captures/lan-nat.pcapng"

WATCH = """<script>
const said = { errors: [], asked: [], painted: [], repainted: 0 };
addEventListener("error", (e) => said.errors.push(String(e.message)));
addEventListener("securitypolicyviolation", (e) => said.errors.push("forbidden: " + e.blockedURI));
const paint = (c) => {
  const { data } = c.getContext("2d").getImageData(0, 0, c.width, c.height);
  let n = 0, sum = 0;
  for (let i = 3; i < data.length; i += 4) if (data[i] !== 0) { ++n; sum = (sum * 31 + data[i - 1] + i) >>> 0; }
  return [n, sum];
};
addEventListener("load", () => setTimeout(() => {
  const canvases = [...document.querySelectorAll("canvas")];
  said.painted = canvases.map((c) => paint(c)[0]);
  for (const b of document.querySelectorAll("button[aria-pressed='false']")) {
    const canvas = b.closest("section").querySelector("canvas"), before = paint(canvas)[1];
    b.click();
    if (paint(canvas)[1] !== before && b.getAttribute("aria-pressed") === "true") ++said.repainted;
  }
  said.buttons = document.querySelectorAll("button").length;
  said.tiles = [...document.querySelectorAll(".tile b")].map((b) => b.textContent);
  said.sections = [...document.querySelectorAll("section")].map((s) => [s.querySelector("h2").textContent,
    [...s.querySelectorAll("tbody")].map((t) => [...t.rows].map((r) => [...r.cells].map((c) => c.textContent)))]);
  said.asked = performance.getEntriesByType("resource").map((r) => r.name);
  said.width = document.documentElement.scrollWidth;
  const out = document.createElement("pre");
  out.id = "said";
  out.textContent = JSON.stringify(said);
  document.body.append(out);
}, 200));
</script>"""


def browse(browser, page, width, folder):
    profile = tempfile.mkdtemp(dir=folder)
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
               "--disable-background-networking", "--disable-component-update", "--disable-sync", f"--user-data-dir={profile}",
               "--host-resolver-rules=MAP * ~NOTFOUND", f"--window-size={width},1000", "--virtual-time-budget=5000", "--dump-dom",
               "file://" + page]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    found = re.search(r'<pre id="said">(.*?)</pre>', dom, re.S)
    if not found:
        sys.exit(f"the page's scripts did not end: {dom[-2000:]}")
    text = found.group(1).replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")
    return json.loads(text)


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, and should be {wanted!r}")


def share(part, whole):
    return f"{100 * part / whole:.1f} %"


def main(octep, browser):
    with tempfile.TemporaryDirectory() as folder:
        plain, page = os.path.join(folder, "plain.html"), os.path.join(folder, "watched.html")
        said = subprocess.run([octep, "replay", "--json", "--html", plain, *OPTIONS, CAPTURE], capture_output=True, text=True, check=True)
        report = json.loads(said.stdout)
        with open(plain, encoding="utf-8") as file:
            text = file.read()
        with open(page, "w", encoding="utf-8") as file:
            file.write(text.replace("<title>", WATCH + "<title>", 1))

        found = browse(browser, page, 1200, folder)
        expect("errors", found["errors"], [])
        expect("asked of a network", found["asked"], [])
        expect("charts", len(found["painted"]), 4)
        if min(found["painted"]) < 500:
            sys.exit(f"a chart is not painted: {found['painted']} pixels")
        # Two kinds of bars over time, three of reasons: the other ones are three.
        expect("charts that another button changed", found["repainted"], 3)

        f, c = report["frames"], report["connections"]
        expect("tiles", found["tiles"][:3], [
            share(f["forwarded_bytes"], f["forwarded_bytes"] + f["punted_bytes"]),
            share(f["forwarded"], f["forwarded"] + f["punted"]), f"{c['made']} of {c['seen']}"])
        sections = dict(found["sections"])
        expect("sections", list(sections), [
            "Compared", "Over time", "Why not", "Worst", "Time to made", "In hardware", "Frames that octep cannot learn from",
            "What this capture cannot tell", "Not modelled", "Settings"])
        rows = sections["Why not"][0]
        ranked = sorted(((n, name) for name, n in c["refused_bytes"].items() if n), reverse=True)
        expect("reasons", [r[0] for r in rows], [name for _, name in ranked] + ["made"])
        expect("their bytes", [r[2] for r in rows[:-1]], [f"{n:,}" for n, _ in ranked])
        expect("spans", len(sections["Over time"][0]), len(report["over_time"]["spans"]))
        expect("forwarded over time", sum(int(r[1].replace(",", "")) for r in sections["Over time"][0]), f["forwarded_bytes"])
        expect("worst", [r[0] for r in sections["Worst"][0]], [w["tuple"] for w in c["worst"]])
        expect("boxes", [len(r) for r in sections["Compared"][0]], [1 + len(report["compared"])] * len(sections["Compared"][0]))
        expect("settings that differ", [r[0] for r in sections["Settings"][0]], ["poll_ms"])
        expect("all settings", len(sections["Settings"][1]), len(report["settings"]))

        narrow = browse(browser, page, 500, folder)
        expect("errors in a narrow window", narrow["errors"], [])
        if narrow["width"] > 520:
            sys.exit(f"a window of 500 pixels is scrolled sideways over {narrow['width']}")

        # A check that cannot fail would be none.
        with open(page, "w", encoding="utf-8") as file:
            file.write(text.replace("<title>", WATCH + "<title>", 1).replace("new Chart(", "new Chard(", 1))
        if not browse(browser, page, 1200, folder)["errors"]:
            sys.exit("a page whose charts are broken is not noticed")


if __name__ == "__main__":
    main(*sys.argv[1:])
