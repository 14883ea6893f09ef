"use strict";
// Tables and charts of the JSON report in this page. Every chart has its figures in a table beside it, and text goes in as text.
(() => {
  const report = JSON.parse(document.getElementById("report").textContent);
  const words = JSON.parse(document.getElementById("words").textContent);
  const page = document.getElementById("page");

  // --- words and figures -------------------------------------------------------------------------------
  const whole = new Intl.NumberFormat("en-US");
  const number = (n) => whole.format(n);
  // What is not nothing or all never reads as 0.0 % or 100.0 %.
  const percent = (part, all) => {
    if (all === 0) return "-";
    let of = (100 * part) / all;
    if (part !== 0) of = Math.max(of, 0.1);
    if (part !== all) of = Math.min(of, 99.9);
    return `${of.toFixed(1)} %`;
  };
  // Three digits, and never an exponent: 999.7 is 1,000.
  const three = (n) => n < 999.5 ? n.toPrecision(3).replace(/\.0+$/, "") : number(Math.round(n));
  const scaled = (n, units, step) => {
    let at = 0;
    while (n >= step * .9995 && at + 1 < units.length) { n /= step; ++at; }
    return `${at === 0 ? number(n) : three(n)} ${units[at]}`;
  };
  const bytes = (n) => scaled(n, ["B", "kB", "MB", "GB", "TB"], 1000);
  const milliseconds = (ms) => {
    if (ms === null) return "-";
    if (ms < 1) return `${Math.round(ms * 1000)} us`;
    if (ms < 999.5) return `${three(ms)} ms`;
    return seconds(ms / 1000);
  };
  const seconds = (s) => {
    if (s !== 0 && s < .9995) return milliseconds(s * 1000);
    if (s < 119.5) return `${three(s)} s`;
    const rounded = Math.round(s), minutes = Math.round(s / 60);
    if (rounded < 7200) return `${Math.floor(rounded / 60)} min ${rounded % 60} s`;
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  };
  const sum = (of) => Object.values(of).reduce((a, b) => a + b, 0);

  // --- elements ----------------------------------------------------------------------------------------
  const make = (tag, attributes = {}, ...children) => {
    const e = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
    e.append(...children);
    return e;
  };
  const section = (title, means, ...children) => {
    const s = make("section", {}, make("h2", {}, title));
    if (means) s.append(make("p", { class: "quiet" }, means));
    s.append(...children);
    page.append(s);
    return s;
  };
  // `columns`: [title, is a number]; without a title: sentences. Cells are text or elements.
  const table = (columns, rows) => {
    const align = (i) => (columns[i][1] ? { class: "number" } : columns[i][0] === "" && i !== 0 ? { class: "sentence" } : {});
    const row = (cells, tag) => make("tr", {}, ...cells.map((c, i) => make(tag, align(i), c)));
    return make("div", { class: "scroll" }, make("table", {},
      make("thead", {}, row(columns.map(([title]) => title), "th")),
      make("tbody", {}, ...rows.map((cells) => row(cells, "td")))));
  };
  const word = (text) => make("code", {}, text);
  const folded = (title, ...children) => make("details", {}, make("summary", {}, title), ...children);
  const choice = (names, chosen) => {
    const buttons = names.map((name, i) => {
      const b = make("button", { type: "button", "aria-pressed": String(i === 0) }, name);
      b.addEventListener("click", () => {
        for (const other of buttons) other.setAttribute("aria-pressed", String(other === b));
        chosen(i);
      });
      return b;
    });
    return make("div", { class: "choice", role: "group" }, ...buttons);
  };

  // --- charts ------------------------------------------------------------------------------------------
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  const drawn = [];
  // `config()` is asked again when the colours change.
  const chart = (label, height, config) => {
    const canvas = make("canvas", { role: "img", "aria-label": label });
    const frame = make("div", { class: "chart" }, canvas);
    frame.style.height = height;
    let current = null;
    const draw = () => {
      if (current) current.destroy();
      Chart.defaults.color = colour("quiet");
      Chart.defaults.borderColor = colour("line");
      Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
      current = new Chart(canvas, config());
    };
    drawn.push(draw);
    return { frame, draw };
  };
  const options = (more) => ({ responsive: true, maintainAspectRatio: false, animation: false, ...more });
  const ticks = (format) => ({ callback: (value) => format(value), maxTicksLimit: 8 });
  const tooltip = (format) => ({ callbacks: { label: (c) => `${c.dataset.label ? `${c.dataset.label}: ` : ""}${format(c.raw)}` } });

  // --- the report --------------------------------------------------------------------------------------
  const { capture, frames, connections } = report;
  const allFrames = frames.forwarded + frames.punted;
  const allBytes = frames.forwarded_bytes + frames.punted_bytes;
  const notMade = sum(connections.refused);

  const tile = (figure, what) => make("div", { class: "tile" }, make("b", {}, figure), what);
  page.append(
    make("h1", {}, capture.file === "-" ? "standard input" : capture.file),
    make("p", { class: "quiet" },
      `${number(capture.frames)} frames, ${bytes(capture.bytes)} on the wire, ${seconds(capture.seconds)}` +
      (capture.left_out ? `; ${number(capture.left_out)} frames are others behind a NAT, and left out` : "") +
      (capture.interrupted ? "; interrupted: this is of what was read until then" : "")),
    make("div", { class: "tiles" },
      tile(percent(frames.forwarded_bytes, allBytes), "of the bytes forwarded by hardware"),
      tile(percent(frames.forwarded, allFrames), "of the frames"),
      tile(`${number(connections.made)} of ${number(connections.seen)}`, "connections made in hardware"),
      tile(milliseconds(report.time_to_made_ms.p50), "until half of those were made")));

  // A reason, and what would change it.
  const texts = (name) => {
    const r = words.reasons[name];
    return r ? make("div", {}, r.sentence, make("div", { class: "quiet" }, `To change it: ${r.change}`)) : "";
  };

  const overTime = () => {
    const { span_ms: span, spans } = report.over_time;
    if (spans.length < 2) return;
    const kinds = [
      { name: "Bytes", forwarded: "forwarded_bytes", punted: "punted_bytes", format: bytes },
      { name: "Frames", forwarded: "forwarded", punted: "punted", format: number },
    ];
    let kind = kinds[0];
    const at = (i) => seconds((i * span) / 1000);
    const c = chart("Forwarded and punted over the time of the capture; the table below has the figures", "18rem", () => ({
      type: "bar",
      data: {
        labels: spans.map((_, i) => at(i)),
        datasets: ["forwarded", "punted"].map((what) => ({
          label: what, data: spans.map((s) => s[kind[what]]), backgroundColor: colour(what), barPercentage: 1, categoryPercentage: .92,
        })),
      },
      options: options({
        interaction: { mode: "index", intersect: false },
        scales: {
          x: { stacked: true, grid: { display: false }, ticks: { maxTicksLimit: 9, maxRotation: 0 } },
          y: { stacked: true, beginAtZero: true, ticks: ticks(kind.format) },
        },
        plugins: { legend: { align: "start", labels: { boxWidth: 12 } }, tooltip: tooltip(kind.format) },
      }),
    }));
    section("Over time", `Each bar is ${seconds(span / 1000)}. Forwarded: hardware knew the connection. Punted: the host got the frame.`,
      choice(kinds.map((k) => k.name), (i) => { kind = kinds[i]; c.draw(); }), c.frame,
      folded("Figures", table(
        [["from", false], ["bytes forwarded", true], ["bytes punted", true], ["share", true], ["frames forwarded", true], ["frames punted", true]],
        spans.map((s, i) => [at(i), number(s.forwarded_bytes), number(s.punted_bytes), percent(s.forwarded_bytes, s.forwarded_bytes + s.punted_bytes),
          number(s.forwarded), number(s.punted)]))));
  };

  const whyNot = () => {
    const kinds = [
      { name: "Bytes", of: connections.refused_bytes, format: bytes },
      { name: "Frames", of: connections.refused_frames, format: number },
      { name: "Connections", of: connections.refused, format: number },
    ];
    const ranked = (of) => Object.entries(of).filter(([, n]) => n !== 0).sort((a, b) => b[1] - a[1]);
    const reasons = ranked(connections.refused_bytes).map(([name]) => name);
    if (reasons.length === 0) return;
    let kind = kinds[0];
    const shown = Math.min(reasons.length, 12);
    const c = chart("Why connections are not in hardware; the table below has the figures", `${shown * 2 + 3.5}rem`, () => {
      const rows = ranked(kind.of).slice(0, shown);
      return {
        type: "bar",
        data: { labels: rows.map(([name]) => name), datasets: [{ data: rows.map(([, n]) => n), backgroundColor: colour("punted"), maxBarThickness: 22 }] },
        options: options({
          indexAxis: "y",
          scales: { x: { beginAtZero: true, ticks: ticks(kind.format) }, y: { grid: { display: false } } },
          plugins: { legend: { display: false }, tooltip: tooltip(kind.format) },
        }),
      };
    });
    const all = sum(connections.refused_bytes);
    section("Why not", "What the host had of connections that were not made, by the last thing that stood in the way of each.",
      choice(kinds.map((k) => k.name), (i) => { kind = kinds[i]; c.draw(); }), c.frame,
      table([["reason", false], ["", false], ["bytes", true], ["", true], ["frames", true], ["connections", true]],
        reasons.map((name) => [word(name), texts(name), number(connections.refused_bytes[name]),
          percent(connections.refused_bytes[name], all), number(connections.refused_frames[name]), number(connections.refused[name])])
          .concat(connections.made === 0 ? [] : [["made", "What the host had of those that were made: before it, and after a give-back.",
            number(connections.made_bytes), "", number(connections.made_frames), number(connections.made)]])));
  };

  const notCandidates = () => {
    const rows = Object.entries(frames.not_candidate_bytes).filter(([name]) => frames.not_candidate[name] !== 0).sort((a, b) => b[1] - a[1]);
    if (rows.length === 0) return;
    section("Frames that octep cannot learn from", null,
      table([["reason", false], ["", false], ["bytes", true], ["of all", true], ["frames", true], ["of all", true]],
        rows.map(([name, n]) => [word(name), texts(name), number(n), percent(n, allBytes), number(frames.not_candidate[name]),
          percent(frames.not_candidate[name], allFrames)])));
  };

  const worst = () => {
    if (connections.worst.length === 0) return;
    section("Worst", "Connections of which the host had the most bytes.",
      table([["connection", false], ["", false], ["bytes to the host", true], ["frames", true]],
        connections.worst.map((w) => [word(w.tuple), w.sentence, number(w.bytes_punted), number(w.frames_punted)])));
  };

  const timeToMade = () => {
    const { p50, p99, histogram } = report.time_to_made_ms;
    if (histogram.length === 0) return;
    const names = histogram.map((b) => (b.below <= 1000 ? `${b.from}-${b.below} ms` : `${three(b.from / 1000)}-${three(b.below / 1000)} s`));
    const c = chart("Connections by the time until they were made; the table below has the figures", "15rem", () => ({
      type: "bar",
      data: { labels: names, datasets: [{ label: "connections", data: histogram.map((b) => b.connections), backgroundColor: colour("forwarded") }] },
      options: options({
        scales: { x: { grid: { display: false } }, y: { beginAtZero: true, ticks: { precision: 0, maxTicksLimit: 6 } } },
        plugins: { legend: { display: false }, tooltip: tooltip(number) },
      }),
    }));
    section("Time to made", `From a connection's first punted frame until hardware had both directions of it: median ${milliseconds(p50)}, ` +
      `99 in 100 within ${milliseconds(p99)}.`, c.frame,
      folded("Figures", table([["time", false], ["connections", true]], histogram.map((b, i) => [names[i], number(b.connections)]))));
  };

  const compared = () => {
    const columns = report.compared;
    if (columns.length < 2) return;
    const share = (c) => (100 * c.bytes_forwarded) / Math.max(c.bytes_forwarded + c.bytes_punted, 1);
    const c = chart("Share of the bytes that was forwarded, by box; the table below has the figures", `${columns.length * 2.2 + 3}rem`, () => ({
      type: "bar",
      data: {
        labels: columns.map((x) => x.name),
        datasets: [{ label: "bytes forwarded", data: columns.map(share), maxBarThickness: 22,
          backgroundColor: columns.map((_, i) => colour(i === 0 ? "third" : "forwarded")) }],
      },
      options: options({
        indexAxis: "y",
        scales: { x: { min: 0, max: 100, ticks: ticks((n) => `${n} %`) }, y: { grid: { display: false } } },
        plugins: { legend: { display: false }, tooltip: tooltip((n) => `${n.toFixed(1)} %`) },
      }),
    }));
    const rows = [
      ["bytes forwarded", (x) => percent(x.bytes_forwarded, x.bytes_forwarded + x.bytes_punted)],
      ["frames forwarded", (x) => percent(x.frames_forwarded, x.frames_forwarded + x.frames_punted)],
      ["frames to the host", (x) => number(x.frames_punted)],
      ["connections made", (x) => number(x.connections_made)],
      ["time to made, median", (x) => milliseconds(x.p50_ms)],
      ["99 in 100 within", (x) => milliseconds(x.p99_ms)],
      ["given back", (x) => number(x.given_back)],
      ["revived", (x) => number(x.revived)],
      ["held back", (x) => number(x.held_back)],
      ["most at one time", (x) => number(x.most)],
      ["commands", (x) => number(x.commands)],
    ];
    section("Compared", "The same frames through one more box each; the first is as asked.", c.frame,
      table([["", false], ...columns.map((x) => [x.name, true])], rows.map(([name, of]) => [name, ...columns.map(of)])));
  };

  const inHardware = () => {
    const { hardware: h, forgotten: f } = report;
    const rows = (all) => table([["", false], ["", true]], all.map(([name, n]) => [name, number(n)]));
    section("In hardware", "What happened to connections there, and what made room in the candidate table.", make("div", { class: "pair" },
      rows([["made", h.made], ["most at one time", h.most], ["given back", h.given_back], ["revived", h.revived], ["held back", h.held_back],
        ["taken out", h.taken_out], ["still there at the end", h.at_end], ["commands", report.counters.cmd_posted]]),
      rows([["candidates written", f.candidates], ["made room before any pass had read them", f.unread],
        ["made room though still of use", f.still_of_use], ["holds forgotten", f.holds]])));
  };

  const marks = (title, means, lines) => {
    if (lines.length !== 0) section(title, means, make("ul", { class: "marks" }, ...lines.map((line) => make("li", {}, line))));
  };

  const settings = () => {
    const rows = Object.entries(report.settings);
    const row = ([name, value]) => {
      const known = words.settings[name];
      return [word(name), number(value), known ? known.unit : "", known ? number(known.value) : "", known ? known.meaning : ""];
    };
    const columns = [["setting", false], ["value", true], ["unit", false], ["unless set", true], ["", false]];
    const set = rows.filter(([name, value]) => words.settings[name] && words.settings[name].value !== value);
    section("Settings", set.length === 0 ? "All as they are unless set." : "Those that differ from what they are unless set.",
      ...(set.length === 0 ? [] : [table(columns, set.map(row))]),
      folded("All settings", table(columns, rows.map(row))),
      folded("All counters", table([["counter", false], ["", true]], Object.entries(report.counters).map(([name, n]) => [word(name), number(n)]))));
  };

  compared();
  overTime();
  whyNot();
  worst();
  timeToMade();
  inHardware();
  notCandidates();
  marks("What this capture cannot tell", "What the way it was taken leaves out of the figures above.", report.cannot_tell.map((m) => m.sentence));
  marks("Warnings", null, report.warnings);
  marks("Not modelled", null, [report.not_modelled]);
  settings();

  const redraw = () => drawn.forEach((draw) => draw());
  redraw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
})();
