// SPDX-License-Identifier: BSD-3-Clause
'use strict';

const $ = (id) => document.getElementById(id);
const PERIOD = 2000; // milliseconds between looks
const state = { model: null, span: 'minutes', models: [], decision: null, timer: null, busy: false };

// --- small things ---

// Marks that turn the direction of text around could make a label read as another; they are shown, not obeyed.
const plain = (s) => (typeof s === 'string' ? s.replace(/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/g, '\ufffd') : s);

function make(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {})) {
    if (k === 'class') e.className = v;
    else if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (v !== false && v != null) e.setAttribute(k, v === true ? '' : k === 'title' ? plain(v) : v);
  }
  e.append(...children.filter((c) => c != null).map(plain));
  return e;
}

function svg(tag, attributes, text) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [k, v] of Object.entries(attributes || {})) e.setAttribute(k, v);
  if (text != null) e.textContent = text;
  return e;
}

const grouped = new Intl.NumberFormat();
function count(n) {
  if (n < 100000) return grouped.format(n);
  for (const [unit, size] of [['G', 1e9], ['M', 1e6], ['k', 1e3]]) if (n >= size) return (n / size).toPrecision(3) + ' ' + unit;
}
const percent = (v, digits = 1) => (v == null || Number.isNaN(v) ? '–' : (100 * v).toFixed(digits) + ' %');
function bytes(n) {
  for (const unit of ['B', 'kB', 'MB', 'GB']) {
    if (n < 1000) return (unit === 'B' ? n : n.toPrecision(3)) + ' ' + unit;
    n /= 1000;
  }
  return n.toPrecision(3) + ' TB';
}
function duration(s) {
  if (s < 0.0995) return Math.round(s * 1000) + ' ms';
  if (s < 9.95) return s.toFixed(1).replace('.0', '') + ' s';
  if (s < 59.5) return Math.round(s) + ' s';
  if (s < 3599) return Math.round(s / 60) + ' min';
  if (s < 129600) return (s / 3600).toFixed(s < 36000 ? 1 : 0).replace('.0', '') + ' h';
  return (s / 86400).toFixed(1).replace('.0', '') + ' days';
}
function clock(ms, seconds) {
  return new Date(ms).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: seconds ? '2-digit' : undefined, hour12: false });
}
const day = (ms) => new Date(ms).toLocaleDateString([], { day: 'numeric', month: 'short' });

function say(id, text) {
  $(id).textContent = plain(text) || '';
  $(id).hidden = !text;
}

// --- the server ---

async function ask(method, path, body) {
  const headers = {};
  const token = sessionStorage.getItem('hunch-token');
  if (token) headers.Authorization = 'Bearer ' + token;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const reply = await fetch(path, { method, headers, body: typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body) });
  if (reply.status === 401) askToken();
  const json = await reply.json();
  if (!reply.ok) {
    const e = new Error(json.error.message + (json.error.line ? ` (line ${json.error.line}, column ${json.error.column})` : ''));
    e.code = json.error.code;
    throw e;
  }
  return json;
}
const modelPath = (more) => '/v1/models/' + encodeURIComponent(state.model) + (more || '');

function askToken() {
  $('token-button').hidden = false;
  if (!$('token-dialog').open) $('token-dialog').showModal();
}

// --- charts ---

// A drawing area with a scale on the left and times below.
function frame(host, options) {
  const width = Math.max(host.clientWidth, 200), height = Math.max(host.clientHeight, 100);
  const box = { left: 42, right: width - 6, top: 10, bottom: height - 22 };
  const root = svg('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': options.label });
  for (let i = 0; i <= 4; i++) {
    const y = Math.round(box.bottom - (box.bottom - box.top) * i / 4) + 0.5;
    root.append(svg('line', { class: 'grid', x1: box.left, x2: box.right, y1: y, y2: y }));
    root.append(svg('text', { x: box.left - 7, y: y + 4, 'text-anchor': 'end' }, options.tick(options.top * i / 4)));
  }
  host.replaceChildren(root);
  return { root, box, width, height };
}

function timeAxis(f, stats) {
  const young = stats.model.created_ms > stats.from_ms && stats.slices.length; // its chart fills the width
  const from = young ? stats.slices[0].at_ms : stats.from_ms, wide = f.box.right - f.box.left;
  const to = Math.max(stats.from_ms + stats.slice_ms * slots(stats), from + 6 * stats.slice_ms);
  f.x = (ms) => f.box.left + wide * (ms - from) / (to - from);
  const steps = { minutes: [15e3, 60e3, 120e3, 300e3], day: [7200e3, 14400e3, 21600e3], month: [86400e3 * 3, 86400e3 * 5, 86400e3 * 10] }[stats.span];
  const step = steps.find((s) => wide * s / (to - from) > 62) || steps[steps.length - 1];
  const zone = new Date(to).getTimezoneOffset() * 60e3;
  for (let t = Math.ceil((from - zone) / step) * step + zone; t <= to; t += step) {
    const x = f.x(t);
    if (x > f.box.left + 14 && x < f.box.right - 14)
      f.root.append(svg('text', { x, y: f.height - 5, 'text-anchor': 'middle' }, stats.span === 'month' ? day(t) : clock(t, step < 60e3)));
  }
}
const slots = (stats) => ({ minutes: 180, day: 288, month: 360 }[stats.span]);

// Something like 1, 2 or 5 times a power of ten.
function round125(v) {
  if (!(v > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(v));
  return [1, 2, 4, 5, 10].find((m) => m * power >= v * 0.999) * power;
}

function nothing(f, text) {
  f.root.append(svg('text', { class: 'nothing', x: (f.box.left + f.box.right) / 2, y: (f.box.top + f.box.bottom) / 2 }, text));
}

// A share per slice, pooled over its neighbours so that quiet times do not look wild.
function shares(slices, part, whole, stats) {
  const reach = 6 * stats.slice_ms, points = [];
  let from = 0, a = 0, b = 0;
  for (const s of slices) {
    a += s[part];
    b += s[whole];
    while (slices[from].at_ms < s.at_ms - reach) {
      a -= slices[from][part];
      b -= slices[from++][whole];
    }
    if (s[whole] > 0) points.push({ at: s.at_ms + stats.slice_ms / 2, v: a / b, raw: s[part] / s[whole] });
  }
  return points;
}

function drawLine(f, points, y, kind, gap) {
  let path = '', last = null;
  for (const p of points) {
    path += (last && p.at - last.at <= gap ? 'L' : 'M') + f.x(p.at).toFixed(1) + ' ' + y(p.v).toFixed(1);
    last = p;
  }
  if (points.length < 120)
    for (const p of points) f.root.append(svg('circle', { class: 'dot f-' + kind, cx: f.x(p.at), cy: y(p.raw), r: 1.8 }));
  f.root.append(svg('path', { class: 'line s-' + kind, d: path }));
  if (last) f.root.append(svg('circle', { class: 'end f-' + kind, cx: f.x(last.at), cy: y(last.v), r: 4 }));
}

function drawRates(stats) {
  const error = shares(stats.slices, 'wrong', 'answers', stats), explore = shares(stats.slices, 'explored', 'decisions', stats);
  const most = Math.max(0.04, ...error.map((p) => p.v), ...explore.map((p) => p.v));
  const top = [0.04, 0.1, 0.2, 0.4, 0.6, 0.8, 1].find((t) => t >= most * 0.999);
  const f = frame($('rates'), { top, tick: (v) => +(100 * v).toFixed(1) + ' %', label: 'Percentage of wrong answers and of explored decisions over time' });
  const y = (v) => f.box.bottom - (f.box.bottom - f.box.top) * Math.min(v, top) / top;
  timeAxis(f, stats);
  if (!error.length && !explore.length) return nothing(f, 'nothing happened in this time');
  const gap = 8 * stats.slice_ms;
  drawLine(f, explore, y, 'explore', gap);
  drawLine(f, error, y, 'error', gap);
  hover(f, stats, (s) => [`${s.answers ? percent(s.wrong / s.answers) : '–'} wrong of ${s.answers}`, `${s.decisions ? percent(s.explored / s.decisions) : '–'} explored of ${s.decisions}`]);
}

function drawFlow(stats) {
  const per = stats.slice_ms / 1000, unit = stats.span === 'minutes' ? 1 : 60;
  const now = stats.from_ms + stats.slice_ms * (slots(stats) - 1), whole = stats.slices.filter((s) => s.at_ms < now); // the last slice is unfinished
  const most = Math.max(0, ...whole.map((s) => Math.max(s.decisions, s.answers))) / per * unit, top = round125(most);
  const f = frame($('flow'), { top, tick: (v) => (v >= 1000 ? +(v / 1000).toPrecision(3) + 'k' : +v.toPrecision(2)), label: 'Decisions and feedback over time' });
  timeAxis(f, stats);
  f.root.append(svg('text', { x: f.box.left + 4, y: f.box.top + 11 }, unit === 1 ? 'per second' : 'per minute'));
  if (!whole.length) return nothing(f, 'nothing happened in this time');
  for (const [what, kind] of [['decisions', 'decide'], ['answers', 'answer']]) {
    let line = '', area = '', previous = null, first = 0;
    const close = () => { if (previous != null) area += `L${f.x(previous + stats.slice_ms).toFixed(1)} ${f.box.bottom}L${f.x(first).toFixed(1)} ${f.box.bottom}Z`; };
    for (const s of whole) {
      const y = (f.box.bottom - (f.box.bottom - f.box.top) * Math.min(1, s[what] / per * unit / top)).toFixed(1);
      const joined = previous != null && s.at_ms - previous === stats.slice_ms;
      if (!joined) { close(); first = s.at_ms; }
      const step = `${f.x(s.at_ms).toFixed(1)} ${y}L${f.x(s.at_ms + stats.slice_ms).toFixed(1)} ${y}`;
      line += (joined ? 'L' : 'M') + step;
      area += (joined ? 'L' : 'M') + step;
      previous = s.at_ms;
    }
    close();
    f.root.append(svg('path', { class: 'area f-' + kind, d: area }), svg('path', { class: 'line s-' + kind, d: line, 'stroke-width': 1.5 }));
  }
  hover(f, stats, (s) => [`${grouped.format(s.decisions)} decisions`, `${grouped.format(s.answers)} feedback`]);
}

function drawDelay(stats) {
  const total = stats.delays.reduce((n, d) => n + d.answers, 0), top = round125(Math.max(0, ...stats.delays.map((d) => d.answers)) / (total || 1));
  const f = frame($('delay'), { top, tick: (v) => Math.round(100 * v) + ' %', label: 'Feedback by its delay' });
  let sum = 0, median = null;
  for (const d of stats.delays) {
    sum += d.answers;
    if (median == null && sum * 2 >= total && total) median = d.upto_s;
  }
  $('delay-note').textContent = total ? `half within ${median ? duration(median) : 'more than 3 days'}` : '';
  if (!total) return nothing(f, 'no feedback yet');
  const wide = (f.box.right - f.box.left) / stats.delays.length, few = wide < 34;
  stats.delays.forEach((d, i) => {
    const height = (f.box.bottom - f.box.top) * d.answers / total / top, x = f.box.left + i * wide;
    const text = (d.upto_s ? '≤ ' + duration(d.upto_s) : 'longer') + `\n${grouped.format(d.answers)} answers, ${percent(d.answers / total)}`;
    const bar = svg('rect', { class: 'f-answer', x: x + wide * 0.14, width: wide * 0.72, y: f.box.bottom - height, height, rx: 3 });
    const area = svg('rect', { x, width: wide, y: f.box.top, height: f.box.bottom - f.box.top, fill: 'transparent' });
    area.addEventListener('pointermove', (e) => tip(e, text));
    area.addEventListener('pointerleave', () => tip());
    f.root.append(bar, area);
    const name = d.upto_s ? duration(d.upto_s).replace(' ms', 'ms').replace(' min', 'm').replace(' days', 'd').replace(' ', '') : '∞';
    if (!few || i % 2 === 0) f.root.append(svg('text', { x: x + wide / 2, y: f.height - 5, 'text-anchor': 'middle' }, name));
  });
}

function hover(f, stats, lines) {
  const cross = svg('line', { class: 'cross', y1: f.box.top, y2: f.box.bottom, visibility: 'hidden' });
  const area = svg('rect', { x: f.box.left, y: f.box.top, width: f.box.right - f.box.left, height: f.box.bottom - f.box.top, fill: 'transparent' });
  area.addEventListener('pointermove', (e) => {
    const r = f.root.getBoundingClientRect(), x = (e.clientX - r.left) * f.width / r.width;
    let best = null;
    for (const s of stats.slices) {
      const distance = Math.abs(f.x(s.at_ms + stats.slice_ms / 2) - x);
      if (!best || distance < best.distance) best = { s, distance };
    }
    if (!best || best.distance > 30) return leave();
    const at = f.x(best.s.at_ms + stats.slice_ms / 2);
    cross.setAttribute('x1', at);
    cross.setAttribute('x2', at);
    cross.setAttribute('visibility', 'visible');
    tip(e, [(stats.span === 'month' ? day(best.s.at_ms) + ' ' : '') + clock(best.s.at_ms, stats.span === 'minutes'), ...lines(best.s)].join('\n'));
  });
  const leave = () => { cross.setAttribute('visibility', 'hidden'); tip(); };
  area.addEventListener('pointerleave', leave);
  f.root.append(cross, area);
}

function tip(e, text) {
  const t = $('tip');
  t.hidden = !e;
  if (!e) return;
  t.textContent = text;
  t.style.left = Math.max(8, Math.min(e.clientX + 14, innerWidth - t.offsetWidth - 8)) + 'px';
  t.style.top = (e.clientY + 18 + t.offsetHeight > innerHeight ? e.clientY - t.offsetHeight - 10 : e.clientY + 18) + 'px';
}

// --- what is shown ---

function good(m) { // what is on disk only is opened when it is asked for
  return m.status === 'ok' || m.status === 'on_disk';
}

function showModels() {
  const nav = $('models'), focus = document.activeElement && document.activeElement.dataset.model;
  nav.replaceChildren(...state.models.map((m) => make('button', {
    class: 'model' + (good(m) ? '' : ' broken'), 'data-model': m.name, 'aria-current': String(m.name === state.model), onclick: () => choose(m.name),
  }, make('b', {}, m.name), make('span', { class: 'rate' }, m.status === 'ok' ? percent(m.error_rate) : good(m) ? '' : '!'),
  make('span', {}, (m.learner || m.status.replace('_', ' ')).split(':')[0]), make('span', { class: 'rate' }, m.decisions == null ? '' : count(m.decisions)))),
  make('button', { class: 'add', onclick: openCreate }, '+ New model'));
  if (focus) for (const b of nav.children) if (b.dataset.model === focus) b.focus();
  $('empty').hidden = state.models.length > 0;
  $('model').hidden = !state.model;
  if (!state.models.length && $('create').hidden) openCreate();
  $('create-close').hidden = !state.models.length;
}

function tile(what, value, more, kind) {
  return make('div', { class: 'tile ' + (kind || '') }, make('div', { class: 'what' }, what), make('div', { class: 'value' }, value), make('div', { class: 'more', title: more }, more));
}

const learnerName = (spec) => spec.split(':')[0];

function drift(m) { // of learners that look for it
  if (!m.drift) return '';
  const again = m.drift.restarts ? ', ' + count(m.drift.restarts) + (m.drift.restarts > 1 ? ' restarts' : ' restart') : '';
  return again + (m.drift.forgetting ? ', follows drift' : '');
}

function acted(m) { // of models that say whether to act on a decision
  const p = (m.promises || []).find((one) => one.act_at === m.act_at) || (m.promises || [])[0];
  if (!p) return [];
  const right = p.acted ? p.right / p.acted : null;
  return [tile('Acted on', percent(p.acted / p.answers), `${percent(right)} of these right, promised ${percent(p.act_at)}`, p.acted > 500 && right < p.act_at - 0.05 ? 'bad' : '')];
}

function showTiles(m) {
  const shares = m.decisions ? percent(m.feedback / m.decisions, 0) + ' of decisions' : 'none yet';
  const last = (n) => (n ? 'of the last ' + grouped.format(Math.min(n, m.window)) : 'none yet');
  const chance = 1 - 1 / Math.max(2, m.labels.length); // the error of labels drawn at random
  const silence = m.silent ? ', ' + count(m.silent) + ' by time-out' : '';
  $('tiles').replaceChildren(
    tile('Decisions', count(m.decisions), m.features_known == null ? '' : count(m.features_known) + (m.features_known === 1 ? ' feature' : ' features')),
    tile('Feedback', count(m.feedback), shares + silence),
    tile('Error', percent(m.error_rate), last(m.feedback) + drift(m), m.error_rate >= chance ? 'bad' : ''),
    tile('Exploration', percent(m.exploration), last(m.decisions)),
    tile('Pending', count(m.pending), count(m.expired) + ' expired' + (m.answer_after ? `; silence is ${m.answer_default} after ${duration(m.answer_after)}` : '')),
    tile('Log', bytes(m.log_bytes), bytes(m.bytes) + ' in memory'), ...acted(m));
}

function showLabels(labels, retired) {
  const most = Math.max(1, ...labels.map((l) => l.shown));
  $('labels').tBodies[0].replaceChildren(...labels.slice().sort((a, b) => b.shown - a.shown).slice(0, 200).map((l) => {
    const bar = make('div', { class: 'bar' }), answered = l.right + l.wrong;
    for (const [kind, n] of [['g', l.right], ['b', l.wrong], ['w', Math.max(0, l.shown - answered)]]) {
      const part = make('i', { class: kind });
      part.style.width = 100 * n / most + '%';
      bar.append(part);
    }
    const out = retired.includes(l.label);
    return make('tr', {}, make('td', {}, l.label, out ? ' ' : '', out ? make('span', { class: 'badge', title: 'never predicted, still learned' }, 'retired') : ''), make('td', { class: 'n' }, count(l.shown)), make('td', { class: 'bars' }, bar),
      make('td', { class: 'n' }, count(l.right)), make('td', { class: 'n' }, count(l.wrong)), make('td', { class: 'n' }, answered ? percent(l.wrong / answered) : '–'),
      make('td', { class: 'n' }, make('button', { class: 'quiet retire', title: out ? 'Predict this label again' : 'Never predict this label any more; it is still learned', onclick: () => retire(l.label, out) }, out ? 'Restore' : 'Retire')));
  }));
}

function showDecisions(decisions) {
  $('decisions').tBodies[0].replaceChildren(...decisions.map((d) => {
    const f = d.feedback, x = JSON.stringify(d.x);
    const badge = !f ? make('span', { class: 'badge' }, d.activated === false ? 'deferred' : 'waiting') : f.right ? make('span', { class: 'badge good' }, 'right') : make('span', { class: 'badge bad' }, f.label ? 'was ' + f.label : 'wrong');
    const when = new Date(d.time_ms), today = new Date().toDateString() === when.toDateString();
    return make('tr', {}, make('td', { class: 'time', title: when.toISOString() }, (today ? '' : day(d.time_ms) + ' ') + clock(d.time_ms, true)),
      make('td', { class: 'label' }, d.label, ' ', d.chosen_by ? make('span', { class: 'badge' }, d.chosen_by) : d.label !== d.greedy ? make('span', { class: 'badge explore', title: 'largest score: ' + d.greedy }, 'explored') : '',
        d.eligible ? make('span', { class: 'badge', title: 'eligible: ' + d.eligible.join(', ') }, 'of ' + d.eligible.length) : ''),
      make('td', { class: 'n chance' }, percent(d.probability)), make('td', { class: 'x mono', title: x }, x),
      make('td', { class: 'reply' }, make('button', { class: 'quiet forget', title: 'Make the model forget this decision and its feedback', onclick: () => forget(d.id) }, 'Forget'), badge, f ? make('span', { class: 'faint' }, (f.silent ? ' by default' : '') + ' after ' + duration(f.delay_ms / 1000)) : ''));
  }));
  if (!decisions.length) $('decisions').tBodies[0].append(make('tr', {}, make('td', { colspan: 5, class: 'faint' }, 'None yet. Try one.')));
}

function showVersions(v) {
  $('versions-card').hidden = v.versions.length < 2;
  $('versions').tBodies[0].replaceChildren(...v.versions.map((o) => make('tr', {}, make('td', { class: 'n' }, String(o.version)),
    make('td', { class: 'mono x', title: o.learner }, learnerName(o.learner)), make('td', {}, make('span', { class: 'badge' + (o.status === 'active' ? ' good' : '') }, o.status)),
    make('td', { class: 'n' }, percent(o.agreement)), make('td', { class: 'n' }, percent(o.status === 'active' ? v.error : o.error)), make('td', { class: 'n', title: o.answers ? 'between ' + percent(o.estimate_interval[0]) + ' and ' + percent(o.estimate_interval[1]) : '' }, percent(o.estimate)),
    make('td', { class: 'n', title: o.answers ? 'between ' + percent(o.gain_interval[0]) + ' and ' + percent(o.gain_interval[1]) : '' }, o.status === 'shadow' ? percent(o.gain) : '–'),
    make('td', {}, o.status === 'shadow' ? make('button', { class: 'quiet', onclick: () => promote(o.version) }, 'Promote') : ''))));
}

// What decisions were worth: those of the application, the model's in their place, the model's, those of a control.
function showComparison(c) {
  const { decides, control } = c.policy, apart = decides === 'baseline', by = control && (control.by || control.label);
  $('comparison-card').hidden = !apart && !control && !c.baseline.decisions;
  $('comparison-note').textContent = (apart ? 'the application decides' : 'the model decides') + (control && !apart ? plain(`, ${percent(control.share, 0)} control: ${by}`) : '');
  $('decides').textContent = apart ? 'Let the model decide' : 'Let the application decide';
  $('decides').onclick = () => change(apart ? `Let ${state.model} decide from now on?` : 'Let the application decide? Its requests must have "baseline".', 'PATCH', modelPath(''), { decides: apart ? 'model' : 'baseline' });
  const interval = (s) => (s.answers ? `${percent(s.low)} to ${percent(s.high)}` : '–');
  const row = (name, s, n) => make('tr', {}, make('td', {}, name), make('td', { class: 'n' }, n == null ? count(s.decisions) : n),
    make('td', { class: 'n' }, count(s.answers)), make('td', { class: 'n' }, percent(s.right)), make('td', { class: 'n' }, interval(s)));
  const rows = [], same = c.baseline.decisions ? percent(c.model_instead.same / c.baseline.decisions, 0) + ' the same' : '–';
  if (apart || c.baseline.decisions) rows.push(row('the application', c.baseline), row('the model in its place', c.model_instead, same));
  if (control) {
    rows.push(row('the model', c.model), row('the control', c.control));
    const both = c.model.answers && c.control.answers;
    rows.push(make('tr', {}, make('td', { colspan: 3 }, 'the model over the control'), make('td', { class: 'n' }, both ? percent(c.lift.value) : '–'),
      make('td', { class: 'n' }, both ? `${percent(c.lift.low)} to ${percent(c.lift.high)}` : '–')));
  }
  $('comparison').tBodies[0].replaceChildren(...rows);
}

// The nodes of a group, each with what it has said last about this model.
function showNodes(group) {
  $('nodes-card').hidden = group.journal.kind === 'embedded';
  const problems = (group.topics || []).map((t) => `topic ${t.topic}: ${t.problem}`);
  $('nodes-note').textContent = [group.journal.up ? 'journal up' : 'journal away: ' + group.journal.reason, ...problems].join('; ');
  $('nodes').tBodies[0].replaceChildren(...group.nodes.sort((a, b) => (a.node < b.node ? -1 : 1)).map((n) => {
    const m = n.models.find((one) => one.name === state.model), silent = n.heard_seconds > 10;
    const trouble = silent ? 'silent' : !m ? 'not served here' : m.diverged ? 'diverged' : m.stopped ? 'stopped' : Math.abs(n.clock_seconds) > 60 ? 'clock is wrong' : '';
    return make('tr', {}, make('td', {}, n.node + (n.node === group.node ? ' (this)' : '')), make('td', { class: 'mono faint' }, n.url),
      make('td', { class: 'n' }, m ? count(m.seq) : '–'), make('td', { class: 'n' }, m ? count(m.lag) : '–'),
      make('td', { class: 'n' }, count(n.unacknowledged)), make('td', { class: 'n' }, duration(n.heard_seconds)),
      make('td', {}, make('span', { class: 'badge ' + (trouble ? 'bad' : 'good'), title: (m && m.stopped) || '' }, trouble || 'applies')));
  }));
}

function showModel(stats, decisions) {
  const m = stats.model;
  $('name').textContent = m.name;
  $('learner').hidden = false;
  $('learner-name').textContent = learnerName(m.learner);
  $('learner-spec').textContent = m.learner;
  say('model-problem', !good(m) ? m.reason || m.status : m.damage ? 'The log is damaged: ' + m.damage : m.rebuilding ? 'Being rebuilt from its log.' : '');
  showTiles(m);
  drawRates(stats);
  drawFlow(stats);
  drawDelay(stats);
  showLabels(stats.labels, m.retired || []);
  showDecisions(decisions.decisions);
  const options = ['It was …', ...m.labels], select = $('say-label');
  if (select.options.length !== options.length || select.dataset.model !== m.name) {
    select.replaceChildren(...options.map((o, i) => make('option', { value: i ? o : '' }, o)));
    select.dataset.model = m.name;
  }
}

function health(ok, text) {
  $('health').className = 'pill ' + (ok ? 'ok' : 'off');
  $('health').lastElementChild.textContent = text;
}

// --- the heart beat ---

async function look() {
  if (state.busy) return;
  state.busy = true;
  try {
    state.models = (await ask('GET', '/v1/models')).models;
    if (!state.models.some((m) => m.name === state.model)) state.model = state.models.length ? state.models[0].name : null;
    showModels();
    const failing = state.models.filter((m) => !good(m));
    health(!failing.length, failing.length ? failing[0].name + ': ' + failing[0].status.replace('_', ' ') : 'ready');
    const one = state.models.find((m) => m.name === state.model);
    document.body.classList.remove('stale');
    $('model').classList.toggle('broken', !!one && one.status === 'broken');
    if (one && one.status === 'broken') {
      $('name').textContent = one.name;
      $('learner').hidden = true;
      say('model-problem', one.reason);
    } else if (one) {
      const name = state.model, span = state.span;
      const [stats, decisions, versions, comparison, group] = await Promise.all([
        ask('GET', modelPath('/stats?span=' + span)), ask('GET', modelPath('/decisions?limit=12')), ask('GET', modelPath('/versions')), ask('GET', modelPath('/comparison')), ask('GET', '/v1/nodes')]);
      if (name === state.model && span === state.span) { showModel(stats, decisions); showVersions(versions); showComparison(comparison); showNodes(group); }
    }
  } catch (e) {
    if (!e.code) document.body.classList.add('stale'); // what is shown is of a while ago
    health(false, e.code === 'no_token' || e.code === 'scope' ? 'needs a token' : e.code ? e.message : 'no connection');
  } finally {
    state.busy = false;
    clearTimeout(state.timer);
    if (document.visibilityState === 'visible' && !$('token-dialog').open) state.timer = setTimeout(look, PERIOD);
  }
}

function choose(name) {
  state.model = name;
  state.decision = null;
  history.replaceState(null, '', '#' + encodeURIComponent(name));
  $('answer').hidden = true;
  $('create').hidden = true;
  say('try-problem');
  showModels();
  look();
}

// --- trying ---

function showScores(scores, label) {
  const all = Object.entries(scores).sort((a, b) => b[1] - a[1]).slice(0, 50), low = Math.min(...all.map((s) => s[1])), high = Math.max(...all.map((s) => s[1]));
  $('answer-scores').replaceChildren(...all.map(([name, v]) => {
    const fill = make('i'), share = high > low ? (v - low) / (high - low) : 0;
    fill.style.width = 4 + 96 * share + '%';
    return make('div', { class: 'score' + (name === label ? '' : ' low') }, make('span', { title: name }, name), make('div', { class: 'bar' }, fill), make('span', { class: 'n' }, v.toPrecision(3)));
  }));
}

async function tryIt(event) {
  event.preventDefault();
  say('try-problem');
  try {
    const d = await ask('POST', modelPath('/predict'), `{"x":${$('x').value},"scores":true}`);
    state.decision = d;
    $('answer').hidden = false;
    $('answer-label').textContent = plain(d.label);
    const explored = d.label !== d.greedy;
    $('answer-how').textContent = explored ? plain(`explored; largest score: ${d.greedy}`) : percent(d.probability) + ' probability';
    $('answer-how').className = 'badge' + (explored ? ' explore' : '');
    showScores(d.scores, d.label);
    $('answer-result').textContent = '';
    for (const b of $('answer-buttons').children) b.disabled = false;
    $('say-label').value = '';
    look();
  } catch (e) {
    $('answer').hidden = true;
    say('try-problem', e.message);
  }
}

async function answer(body) {
  for (const b of $('answer-buttons').children) b.disabled = true;
  try {
    const r = await ask('POST', modelPath('/feedback'), Object.assign({ id: state.decision.id }, body));
    $('answer-result').textContent = r.result === 'learned' ? 'Learned, and on disk.' : 'It knew that already.';
    look();
  } catch (e) {
    for (const b of $('answer-buttons').children) b.disabled = false;
    $('answer-result').textContent = e.message;
  }
}

// --- changing ---

async function change(question, method, path, body) {
  if (question && !confirm(question)) return;
  try {
    await ask(method, path, body);
    say('model-problem');
  } catch (e) { alert(e.message); }
  look();
}
const showLibraries = (defects) => {
  $('libraries').hidden = !defects.length;
  $('libraries').textContent = 'known defects in ' + defects.map((d) => d.library).join(', ');
  $('libraries').title = defects.map((d) => `${d.library} ${d.version}, fixed in ${d.fixed}: ${d.effect}`).join('\n');
};

const promote = (version) => change(`Let version ${version} of ${state.model} decide from now on?`, 'POST', modelPath(`/versions/${version}/promote`));
const retire = (label, back) => change(back ? '' : `Never predict "${plain(label)}" any more? It can be restored.`, 'PATCH', modelPath(''), back ? { restore: [label] } : { retire: [label] });
const forget = (id) => change('Make the model forget this decision and its feedback?', 'POST', modelPath('/exclude'), { id });
const remove = () => change(`Delete the model ${state.model} and its log?`, 'DELETE', modelPath(''));
function addLabel() {
  const label = prompt('Name of the new label');
  if (label) change(`Add the label "${plain(label)}"? It can't be taken away again.`, 'POST', modelPath('/labels'), { labels: [label] });
}

// --- making ---

async function openCreate() {
  $('create').hidden = false;
  $('create').scrollIntoView({ block: 'nearest' });
  if ($('new-learner').options.length) return;
  try {
    const table = await ask('GET', '/v1/learners');
    const describe = () => { const l = table.learners.find((x) => x.name === $('new-learner').value); $('new-title').textContent = l ? l.title : ''; };
    $('new-learner').replaceChildren(...table.learners.map((l) => make('option', { value: l.name, selected: l.name === table.default }, l.name)));
    $('new-learner').addEventListener('change', describe);
    describe();
    $('new-silence').addEventListener('change', () => { $('new-after').hidden = !$('new-silence').value; });
  } catch (e) { say('create-problem', e.message); }
}

async function create(event) {
  event.preventDefault();
  say('create-problem');
  const name = $('new-name').value.trim(), labels = $('new-labels').value.split(',').map((s) => s.trim()).filter(Boolean);
  try {
    const silence = $('new-silence').value, minutes = Number($('new-minutes').value);
    await ask('PUT', '/v1/models/' + encodeURIComponent(name), Object.assign({ learner: $('new-learner').value, labels },
      silence ? { answer_default: silence, answer_after: Math.round(60 * minutes) } : {}));
    $('create').hidden = true;
    $('create').reset();
    choose(name);
  } catch (e) { say('create-problem', e.message); }
}

// --- start ---

function theme(next) {
  if (next) document.documentElement.dataset.theme = next;
}

function start() {
  theme(localStorage.getItem('hunch-theme'));
  try { state.model = decodeURIComponent(location.hash.slice(1)) || null; } catch { state.model = null; }
  $('theme').addEventListener('click', () => {
    const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    localStorage.setItem('hunch-theme', dark ? 'light' : 'dark');
    theme(dark ? 'light' : 'dark');
  });
  $('span').addEventListener('click', (e) => {
    if (!e.target.dataset.span) return;
    state.span = e.target.dataset.span;
    for (const b of $('span').children) b.setAttribute('aria-pressed', String(b === e.target));
    look();
  });
  $('try').addEventListener('submit', tryIt);
  $('x').addEventListener('keydown', (e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) tryIt(e); });
  $('say-right').addEventListener('click', () => answer({ right: true }));
  $('say-wrong').addEventListener('click', () => answer({ right: false }));
  $('say-label').addEventListener('change', (e) => e.target.value && answer({ label: e.target.value }));
  $('add-label').addEventListener('click', addLabel);
  $('remove').addEventListener('click', remove);
  $('create').addEventListener('submit', create);
  $('create-close').addEventListener('click', () => { $('create').hidden = true; });
  $('token-button').addEventListener('click', askToken);
  $('token-form').addEventListener('submit', () => { sessionStorage.setItem('hunch-token', $('token').value); $('token').value = ''; setTimeout(look); });
  addEventListener('resize', () => { clearTimeout(state.resize); state.resize = setTimeout(look, 150); });
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && look());
  ask('GET', '/v1').then((a) => { $('version').textContent = a.name + ' ' + a.version; $('token-button').hidden = !a.tokens; }, () => {});
  ask('GET', '/readyz').then((a) => showLibraries(a.library_defects || []), () => {});
  look();
}

start();
