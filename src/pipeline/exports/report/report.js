'use strict';
// Every name in the data comes from traced programs: it reaches the page as text (textContent), never as markup.

const $ = (id) => document.getElementById(id);

/** Makes an element: make('td', 'name bad', 'text' or child, …). */
function make(tag, classes, ...children) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  element.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

function button(text, action, classes) {
  const element = make('button', classes, text);
  element.type = 'button';
  element.addEventListener('click', action);
  return element;
}

// ------------------------------------------------------------------------------------------------ the data

async function unpack() {
  const text = atob($('data').textContent);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < packed.length; ++i) packed[i] = text.charCodeAt(i);
  $('data').remove();
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads `count` LEB128 numbers; `signed`: zigzag differences from the number before. */
function readNumbers(bytes, count, signed) {
  const numbers = new Float64Array(count);
  let at = 0;
  let before = 0;
  for (let i = 0; i < count; ++i) {
    let value = 0;
    let scale = 1;
    let byte = 128;
    while (byte > 127) {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    }
    if (signed) before = value = before + (value % 2 ? -(value + 1) / 2 : value / 2);
    numbers[i] = value;
  }
  return numbers;
}

function readData(bytes) {
  const decoder = new TextDecoder();
  const size = new DataView(bytes.buffer).getUint32(0, true);
  const data = JSON.parse(decoder.decode(bytes.subarray(4, 4 + size)));
  let at = 4 + size;
  const column = {};
  for (const [name, length] of data.columns) {
    column[name] = bytes.subarray(at, at + length);
    at += length;
  }
  for (const name of ['start', 'duration', 'thread', 'name', 'error', 'object', 'end', 'stack', 'arguments']) {
    data[name] = readNumbers(column[name], data.rows, name === 'start');
  }
  let texts = 0;
  for (const byte of column.lengths) texts += byte < 128 ? 1 : 0;
  const lengths = readNumbers(column.lengths, texts, false);
  const offsets = new Float64Array(texts + 1);
  for (let i = 0; i < texts; ++i) offsets[i + 1] = offsets[i] + lengths[i];
  data.textCount = texts;
  data.textAt = (i) => decoder.decode(column.texts.subarray(offsets[i], offsets[i + 1]));
  data.processById = new Map(data.processes.map((process) => [process[0], process]));
  return data;
}

const P = { id: 0, parent: 1, pid: 2, command: 3, start: 4, end: 5, ending: 6, threads: 7, execs: 8 };
const T = { tid: 0, process: 1, start: 2, last: 3, command: 4 };

// ------------------------------------------------------------------------------------------------ numbers

function time(nanoseconds) {
  const units = [[1e9, ' s'], [1e6, ' ms'], [1e3, ' µs']];
  for (const [size, unit] of units) {
    if (nanoseconds >= size * 0.9995) return (nanoseconds / size).toPrecision(nanoseconds / size < 999.5 ? 3 : 4).replace(/e.*/, '') + unit;
  }
  return nanoseconds ? Math.round(nanoseconds) + ' ns' : '0';
}

const seconds = (nanoseconds) => (nanoseconds / 1e9).toFixed(6);
const count = (number) => number.toLocaleString('en-US');
const noun = (number, one, several) => (number === 1 ? one : several);

// The same for every reader: 2026-11-24 17:02:37.
function moment(milliseconds) {
  const two = (number) => String(number).padStart(2, '0');
  const when = new Date(milliseconds);
  return `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())} ${two(when.getHours())}:${two(when.getMinutes())}:${two(when.getSeconds())}`;
}

function size(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (bytes >= 1000 && unit < 4) {
    bytes /= 1000;
    ++unit;
  }
  return (unit === 0 ? bytes : bytes.toPrecision(3)) + ' ' + units[unit];
}

// ------------------------------------------------------------------------------------------------ values

const isText = (type) => /path|bytes|str|text|name/.test(type);

function quoted(text) {
  return '"' + text.replace(/[\\"\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (c) => {
    const known = { '\n': '\\n', '\t': '\\t', '\r': '\\r', '"': '\\"', '\\': '\\\\' }[c];
    return known || '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0');
  }) + '"';
}

/** Formats a value of docs/json.md in one line. */
function valueText(value, type) {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'string') return isText(type) && !/^0x[0-9a-f]+$/.test(value) ? quoted(value) : value;
  if (typeof value === 'number' && value > 0xffffffff) return '0x' + value.toString(16); // an address, as a rule
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return '[' + value.map((each) => valueText(each, type)).join(', ') + ']';
  if ('string' in value) return quoted(value.string) + (value.truncated ? '...' : '');
  if ('bytes' in value) return '"' + value.bytes.replace(/../g, '\\x$&') + '"' + (value.truncated ? '...' : '');
  if ('after' in value) return valueText(value.before, type) + ' => ' + valueText(value.after, type);
  if ('name' in value && 'value' in value) return valueText(value.value, '') + '<' + value.name + '>';
  if ('comment' in value && 'value' in value) return valueText(value.value, type) + ' /* ' + value.comment + ' */';
  return '{' + Object.entries(value).map(([name, each]) => (name === '...' ? '...' : name + '=' + valueText(each, 'str'.repeat(/path|name/.test(name))))).join(', ') + '}';
}

const endings = ['', '<unfinished: the thread ended>', '<unwound>', '<detached>'];

function callParts(data, i) {
  const text = data.arguments[i] ? JSON.parse(data.textAt(data.arguments[i])) : null;
  return { list: text ? text[0] : null, result: text ? text[1] : null, note: text ? text[2] : null };
}

function callText(data, i) {
  const parts = callParts(data, i);
  let line = data.strings[data.name[i]] + '(';
  if (parts.list === null) {
    line += '…';
  } else {
    for (let k = 0; k < parts.list.length; k += 3) line += (k ? ', ' : '') + valueText(parts.list[k + 2], parts.list[k + 1]);
  }
  if (data.end[i]) return line + ') ' + endings[data.end[i]];
  if (data.error[i]) return line + ') = -1 ' + data.strings[data.error[i]];
  return line + ')' + (parts.result === null ? '' : ' = ' + valueText(parts.result, '')) + (parts.note === null ? '' : ' (' + valueText(parts.note, '') + ')');
}

// ------------------------------------------------------------------------------------------------ tables

/**
 * A table that its headers sort. `columns`: {title, of: row → number or text, show: row → text or Node}; `rows` stay as
 * they are. The first `limit` are shown until a button asks for all. Rows for which `isNoise` follow all others.
 */
function table(into, columns, rows, sortedBy, limit, isNoise = () => false) {
  const head = make('tr');
  const body = make('tbody');
  const more = button('', () => { limit = Infinity; fill(); }, 'more');
  let order = { column: sortedBy, down: true };
  function fill() {
    const of = columns[order.column].of;
    const sorted = rows.slice().sort((a, b) => {
      const noise = isNoise(a) - isNoise(b);
      if (noise) return noise;
      const [x, y] = [of(a), of(b)];
      const less = typeof x === 'string' ? x.localeCompare(y) : x - y;
      return order.down ? -less : less;
    });
    body.replaceChildren(...sorted.slice(0, limit).map((row) => make('tr', '', ...columns.map((column, i) => {
      const cell = make('td', i === 0 ? 'name' : '', column.show(row));
      if (i === 0) cell.title = cell.textContent;
      return cell;
    }))));
    more.hidden = rows.length <= limit;
    more.textContent = `Show all ${count(rows.length)}`;
    [...head.children].forEach((cell, i) => {
      if (i === order.column) cell.setAttribute('aria-sort', order.down ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
    });
  }
  columns.forEach((column, i) => {
    head.append(make('th', '', button(column.title, () => {
      order = { column: i, down: order.column === i ? !order.down : typeof column.of(rows[0]) !== 'string' };
      fill();
    })));
  });
  const wide = make('div', 'wide', make('table', '', make('thead', '', head), body));
  into.append(wide, more);
  fill();
}

const failures = (number, error) => (number ? make('span', 'bad', count(number) + (error ? ' ' + error : '')) : '');

// ------------------------------------------------------------------------------------------------ views

function showTitle(data) {
  const first = data.processes.find((process) => process[P.execs].length) || data.processes[0];
  const command = first ? (first[P.execs].length ? first[P.execs][0][1] : first[P.command]) : 'nothing';
  document.title = command.slice(0, 100) + ' – tracer report';
  $('title').textContent = command.length > 300 ? command.slice(0, 300) + '…' : command;
  $('subtitle').textContent = `traced on ${moment(data.started / 1e6)} for ${time(data.lasted)}`;
}

function showOverview(data, goTo) {
  const section = $('overview');
  const verdict = data.verdict;
  if (verdict) {
    const box = make('div', 'verdict ' + (verdict.outcome === 'failed' ? 'failed' : verdict.outcome === 'good' ? 'good' : ''), make('p', 'headline', verdict.headline));
    for (const line of verdict.chain) box.append(make('p', 'soft', line));
    for (const answer of verdict.answers) {
      const part = make('div', 'answer', make('p', '', make('span', 'soft', answer.confidence + ': '), make('span', 'cause', answer.cause)));
      for (const seen of answer.evidence) {
        const line = make('pre', '', seen.call);
        const row = findCall(data, seen);
        if (row >= 0) line.append(' ', button('show', () => goTo(row), 'plain'));
        part.append(line);
      }
      for (const fact of answer.looked_at) part.append(make('p', 'soft', fact));
      if (answer.remedy) part.append(make('p', '', 'Remedy: ', make('code', '', answer.remedy)));
      box.append(part);
    }
    if (verdict.last_words) box.append(make('p', 'soft', 'Its last words on standard error:'), make('pre', '', verdict.last_words));
    for (const line of verdict.waiting) box.append(make('p', '', line));
    if (verdict.ruled_out.length) box.append(make('p', 'soft', 'Harmless: ' + verdict.ruled_out.join('; ')));
    if (verdict.not_looked_at.length) box.append(make('p', 'soft', 'Not looked at: ' + verdict.not_looked_at.join('; ')));
    section.append(box);
  }
  const failed = data.names.reduce((sum, name) => sum + name[2], 0);
  const inCalls = data.names.reduce((sum, name) => sum + name[3], 0);
  const facts = [[time(data.lasted), 'from start to end'], [count(data.processes.length), noun(data.processes.length, 'process', 'processes')],
    [count(data.threads.length), noun(data.threads.length, 'thread', 'threads')], [count(data.calls), noun(data.calls, 'call', 'calls')], [count(failed), 'of them failed'], [time(inCalls), 'in calls, all threads']];
  section.append(make('ul', 'facts', ...facts.map(([number, what]) => make('li', '', make('b', '', number), what))));
  const note = (text) => section.append(make('p', 'note', text));
  if (data.lost) note(`${count(data.lost)} events were lost: numbers are too low.`);
  if (data.rows < data.calls) note(`Only ${count(data.rows)} calls are listed, the slowest and those that failed; the tables count all ${count(data.calls)}.`);
  if (!data.all_arguments) note('The arguments of some calls were left out, as they are too long together.');
  if (data.left_out_processes) note(`${count(data.left_out_processes)} further processes are not shown.`);
}

/** Finds the call of a piece of evidence: its thread, and its time since the epoch in nanoseconds. */
function findCall(data, seen) {
  // The head has the start as a double: it is exact to some 200 ns, and a thread's calls are further apart.
  const at = Number(seen.ts) - data.started;
  let best = -1;
  let nearest = 2000;
  for (let i = 0; i < data.rows; ++i) {
    const distance = Math.abs(data.start[i] - at);
    if (distance < nearest && data.threads[data.thread[i] - 1][T.tid] === seen.tid) {
      best = i;
      nearest = distance;
    }
  }
  return best;
}

function showProcesses(data, filterBy) {
  const children = new Map();
  for (const process of data.processes) {
    const parent = data.processById.has(process[P.parent]) ? process[P.parent] : 0;
    if (!children.has(parent)) children.set(parent, []);
    children.get(parent).push(process);
  }
  const list = make('ul', 'tree');
  let left = 1000;
  const pending = (children.get(0) || []).map((process) => [process, 0]).reverse();
  while (pending.length && left > 0) {
    const [process, depth] = pending.pop();
    --left;
    const execs = process[P.execs];
    const command = execs.length ? execs[execs.length - 1][1] : process[P.command];
    const who = make('div', 'who mono', button(String(process[P.pid]), () => filterBy(`pid==${process[P.pid]}`), 'plain'), ' ' + command);
    who.title = execs.map((exec) => exec[1]).join('\n') || command;
    who.style.paddingLeft = Math.min(depth, 40) * 18 + 'px';
    const life = make('span');
    life.style.left = (100 * process[P.start]) / data.lasted + '%';
    life.style.width = (100 * (process[P.end] - process[P.start])) / data.lasted + '%';
    const bar = make('div', 'life', life);
    bar.title = `${seconds(process[P.start])} s to ${seconds(process[P.end])} s`;
    const bad = /^exit [1-9]|^killed/.test(process[P.ending]);
    list.append(make('li', '', who, bar, make('div', 'end' + (bad ? ' bad' : ''), `${process[P.ending]}, ${time(process[P.end] - process[P.start])}`)));
    for (const child of (children.get(process[P.id]) || []).slice().reverse()) pending.push([child, depth + 1]);
  }
  $('processes').append(list);
  if (pending.length) $('processes').append(make('p', 'soft', `${count(data.processes.length - 1000)} more processes are not drawn.`));
}

function showCounts(data, filterBy) {
  const longest = Math.max(1, ...data.names.map((name) => name[3]));
  const bar = (row) => {
    const element = make('span', 'bar');
    element.style.width = Math.max(1, (90 * row[3]) / longest) + 'px';
    return make('span', '', element, make('span', 'beside', time(row[3])));
  };
  // A call that never returns takes no time.
  const ifAny = (row, nanoseconds) => (row[7] ? time(nanoseconds) : '–');
  table($('counts'), [
    { title: 'call', of: (row) => data.strings[row[0]], show: (row) => button(data.strings[row[0]], () => filterBy(`call==${data.strings[row[0]]}`), 'plain') },
    { title: 'calls', of: (row) => row[1], show: (row) => count(row[1]) },
    { title: 'failed', of: (row) => row[2], show: (row) => failures(row[2]) },
    { title: 'time', of: (row) => row[3], show: (row) => (row[7] ? bar(row) : '–') },
    { title: 'p50', of: (row) => row[4], show: (row) => ifAny(row, row[4]) },
    { title: 'p95', of: (row) => row[5], show: (row) => ifAny(row, row[5]) },
    { title: 'p99', of: (row) => row[6], show: (row) => ifAny(row, row[6]) },
    { title: 'longest', of: (row) => row[7], show: (row) => ifAny(row, row[7]) },
  ], data.names, 3, 40);
}

// What every program looks at when it starts.
const noisyFile = /\/locale\/|\/gconv\/|\/locale\.alias$|\/ld\.so\.(cache|preload)$|\.so(\.[0-9.]+)?$/;

function showObjects(data, section, objects, filterBy) {
  if (!objects.length) {
    $(section).append(make('p', 'soft', 'None.'));
    return;
  }
  const name = (row) => data.strings[row[0]];
  table($(section), [
    { title: 'name', of: name, show: (row) => button(name(row), () => filterBy(`path==${quoted(name(row))}`), 'plain') },
    { title: 'calls', of: (row) => row[1], show: (row) => count(row[1]) },
    { title: 'failed', of: (row) => row[2], show: (row) => failures(row[2], data.strings[row[3]]) },
    { title: 'received', of: (row) => row[4], show: (row) => (row[4] ? size(row[4]) : '') },
    { title: 'sent', of: (row) => row[5], show: (row) => (row[5] ? size(row[5]) : '') },
    { title: 'time', of: (row) => row[6], show: (row) => time(row[6]) },
  ], objects, 5, 40, (row) => noisyFile.test(name(row)));
}

// ------------------------------------------------------------------------------------------------ timeline

const waitsFrom = 1e6; // a call that takes as long waits for something, as a rule

function showTimeline(data, goTo) {
  const section = $('timeline');
  const most = 500;
  const lane = 20;
  const label = 150;
  const threads = data.threads.slice(0, most);
  const callsOf = threads.map(() => []);
  for (let i = 0; i < data.rows; ++i) {
    if (data.thread[i] <= most) callsOf[data.thread[i] - 1].push(i);
  }
  const canvas = make('canvas');
  canvas.tabIndex = 0;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', 'Threads over time. Arrow keys move, plus and minus zoom, 0 shows all.');
  const under = make('p', 'mono soft');
  under.id = 'under';
  let from = 0;
  let to = Math.max(1, data.lasted);
  const swatch = (color) => {
    const element = make('span', 'swatch');
    element.style.background = `var(--${color})`;
    return element;
  };
  function zoom(factor, around = (from + to) / 2) {
    const width = Math.min(data.lasted, Math.max(1000, (to - from) * factor));
    from = Math.max(0, Math.min(data.lasted - width, around - ((around - from) * width) / (to - from)));
    to = from + width;
    draw();
  }
  function move(part) {
    const width = to - from;
    from = Math.max(0, Math.min(data.lasted - width, from + width * part));
    to = from + width;
    draw();
  }
  function draw() {
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue('--' + name).trim();
    const scale = window.devicePixelRatio || 1;
    const width = Math.max(200, canvas.clientWidth || 800);
    const height = threads.length * lane + 22;
    canvas.style.height = height + 'px';
    canvas.width = width * scale;
    canvas.height = Math.min(32000, height * scale);
    const paint = canvas.getContext('2d');
    paint.scale(scale, canvas.height / height);
    paint.font = '12px ui-monospace, monospace';
    const left = width < 500 ? 70 : label;
    const columns = width - left;
    const at = (when) => ((when - from) / (to - from)) * columns;
    paint.fillStyle = color('soft');
    for (let i = 0; i <= 4; ++i) {
      const x = left + (columns * i) / 4;
      paint.textAlign = i === 4 ? 'right' : i === 0 ? 'left' : 'center';
      paint.fillText(time(from + ((to - from) * i) / 4), x, 14);
    }
    threads.forEach((thread, number) => {
      const y = 22 + number * lane;
      paint.fillStyle = color('text');
      paint.textAlign = 'left';
      paint.save();
      paint.beginPath();
      paint.rect(0, y, left - 6, lane);
      paint.clip();
      paint.fillText(`${thread[T.tid]} ${left < label ? '' : thread[T.command]}`, 4, y + 14);
      paint.restore();
      const begin = Math.max(0, at(thread[T.start]));
      const end = Math.min(columns, at(thread[T.last]));
      if (end < 0 || begin > columns) return;
      paint.fillStyle = color('run');
      paint.fillRect(left + begin, y + 4, Math.max(1, end - begin), lane - 8);
      const inCall = new Float32Array(columns + 1);
      const waiting = new Float32Array(columns + 1);
      const failed = new Uint8Array(columns + 1);
      for (const i of callsOf[number]) {
        const x0 = at(data.start[i]);
        const x1 = at(data.start[i] + data.duration[i]);
        if (x1 < 0 || x0 > columns) continue;
        const into = data.duration[i] >= waitsFrom ? waiting : inCall;
        const a = Math.max(0, x0);
        const b = Math.min(columns, x1);
        const first = Math.floor(a);
        const last = Math.floor(b);
        if (first === last) {
          into[first] += b - a;
        } else {
          into[first] += first + 1 - a;
          for (let x = first + 1; x < last; ++x) into[x] = 1;
          into[last] += b - last;
        }
        if (data.error[i]) failed[first] = 1;
      }
      const draws = (values, name, floor) => {
        paint.fillStyle = color(name);
        for (let x = 0; x < columns; ++x) {
          if (values[x] > 0) {
            const part = Math.max(floor, Math.min(1, values[x])) * (lane - 8);
            paint.fillRect(left + x, y + lane - 4 - part, 1, part);
          }
        }
      };
      draws(inCall, 'call', 0.15);
      draws(waiting, 'wait', 0.3);
      paint.fillStyle = color('bad');
      for (let x = 0; x < columns; ++x) if (failed[x]) paint.fillRect(left + x, y + 1, 1, 3);
    });
    paint.fillStyle = color('text');
    for (const [thread, when] of data.marks) {
      const x = at(when);
      if (thread <= most && x >= 0 && x <= columns) paint.fillRect(left + x, 22 + (thread - 1) * lane + 2, 1.5, lane - 4);
    }
    canvas.left = left;
    $('from').textContent = `${time(from)} to ${time(to)}`;
  }
  function find(event) {
    const box = canvas.getBoundingClientRect();
    const number = Math.floor((event.clientY - box.top - 22) / lane);
    const when = from + ((event.clientX - box.left - canvas.left) / (box.width - canvas.left)) * (to - from);
    if (!callsOf[number] || when < from) return { when, row: -1 };
    const near = ((to - from) / box.width) * 3;
    let best = -1;
    for (const i of callsOf[number]) {
      if (data.start[i] - near > when) break;
      if (data.start[i] + data.duration[i] + near >= when && (best < 0 || data.duration[i] >= data.duration[best])) best = i;
    }
    const mark = data.marks.find(([thread, at]) => thread === number + 1 && Math.abs(at - when) < near);
    return { when, row: best, mark: mark && data.strings[mark[2]] };
  }
  canvas.addEventListener('mousemove', (event) => {
    const found = find(event);
    under.textContent = seconds(Math.max(0, found.when)) + ' s  ' + (found.mark ? found.mark + '  ' : '') + (found.row >= 0 ? time(data.duration[found.row]) + '  ' + callText(data, found.row) : '');
  });
  canvas.addEventListener('click', (event) => {
    const found = find(event);
    if (found.row >= 0) goTo(found.row);
  });
  canvas.addEventListener('wheel', (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, find(event).when);
  }, { passive: false });
  const keys = { ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), 0: () => zoom(Infinity) };
  canvas.addEventListener('keydown', (event) => {
    if (keys[event.key]) {
      event.preventDefault();
      keys[event.key]();
    }
  });
  const shown = make('span', 'soft');
  shown.id = 'from';
  section.append(
    make('div', 'tools', button('+', keys['+']), button('−', keys['-']), button('◂', keys.ArrowLeft), button('▸', keys.ArrowRight), button('all', keys[0]), shown),
    make('p', 'soft', swatch('run'), 'running or ready', swatch('call'), 'in a call', swatch('wait'), 'in a call of 1 ms or longer', swatch('bad'), 'a call failed', swatch('text'), 'execve or signal'),
    make('div', 'lanes', canvas), under);
  if (data.threads.length > most) section.append(make('p', 'soft', `${count(data.threads.length - most)} more threads are not drawn.`));
  addEventListener('resize', draw);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  draw();
}

// ------------------------------------------------------------------------------------------------ stacks

function showFlames(data) {
  const section = $('flames');
  if (data.stacks.length < 2) {
    section.append(make('p', 'soft', 'None were recorded: trace with -k.'));
    return;
  }
  const nodes = data.stacks.map(([parent, frame, calls, spent]) => ({ parent, text: data.strings[frame], calls, spent, children: [] }));
  for (let i = nodes.length - 1; i > 0; --i) {
    // A parent precedes its children.
    const node = nodes[i];
    nodes[node.parent].calls += node.calls;
    nodes[node.parent].spent += node.spent;
    nodes[node.parent].children.push(i);
  }
  nodes[0].text = 'all';
  let by = 'spent';
  let root = 0;
  const graph = make('div', 'flame');
  const label = (node) => `${node.text}: ${time(node.spent)}, ${count(node.calls)} ${node.calls === 1 ? 'call' : 'calls'}`;
  function draw() {
    const drawn = [];
    let deepest = 0;
    const path = [];
    for (let i = nodes[root].parent, child = root; child !== 0; child = i, i = nodes[i].parent) path.unshift(i);
    path.forEach((i, depth) => drawn.push([i, depth, 0, 1]));
    const pending = [[root, path.length, 0, 1]];
    while (pending.length && drawn.length < 4000) {
      const [i, depth, left, width] = pending.pop();
      drawn.push([i, depth, left, width]);
      deepest = Math.max(deepest, depth);
      let at = left;
      for (const child of nodes[i].children.slice().sort((a, b) => nodes[b][by] - nodes[a][by])) {
        const part = nodes[i][by] ? (width * nodes[child][by]) / nodes[i][by] : 0;
        if (part > 0.001) pending.push([child, depth + 1, at, part]);
        at += part;
      }
    }
    graph.style.height = (deepest + 1) * 20 + 'px';
    graph.replaceChildren(...drawn.map(([i, depth, left, width]) => {
      const node = nodes[i];
      const element = button(node.text, () => {
        root = i;
        draw();
      });
      let hash = 0;
      for (const c of node.text) hash = (hash * 31 + c.codePointAt(0)) % 997;
      element.style.cssText = `left:${left * 100}%;width:${width * 100}%;top:${depth * 20}px;background:hsl(${15 + (hash % 45)} 85% ${62 + (hash % 14)}%)`;
      element.title = label(node);
      return element;
    }));
  }
  const kind = (name, text) => button(text, () => {
    by = name;
    draw();
  });
  section.append(make('div', 'tools', make('span', 'soft', 'The width of a function is'), kind('spent', 'the time of its calls'), kind('calls', 'their number'), button('all', () => {
    root = 0;
    draw();
  })), graph);
  draw();
}

// ------------------------------------------------------------------------------------------------ every call

/** Parses a filter into tests of a row; throws an Error that says what it does not understand. */
function parseFilter(data, text) {
  const tests = [];
  const units = { s: 1e9, ms: 1e6, us: 1e3, µs: 1e3, ns: 1 };
  const words = text.match(/[a-z]+(?:==|!=|~|>=|<=|>|<)"(?:[^"\\]|\\.)*"|"(?:[^"\\]|\\.)*"|[^\s&]+/gi) || [];
  const unquote = (word) => (word.startsWith('"') ? JSON.parse(word.replace(/\\x/g, '\\u00')) : word);
  const compare = { '==': (a, b) => a === b, '!=': (a, b) => a !== b, '>': (a, b) => a > b, '<': (a, b) => a < b, '>=': (a, b) => a >= b, '<=': (a, b) => a <= b };
  const facts = {
    call: (i) => data.strings[data.name[i]],
    errno: (i) => data.strings[data.error[i]],
    path: (i) => data.strings[data.object[i]],
    pid: (i) => data.processById.get(data.threads[data.thread[i] - 1][T.process])?.[P.pid],
    tid: (i) => data.threads[data.thread[i] - 1][T.tid],
    dur: (i) => data.duration[i],
    time: (i) => data.start[i],
  };
  for (const word of words) {
    const parts = word.match(/^([a-z]+)(==|!=|~|>=|<=|>|<)(.+)$/is);
    if (word === 'failed') {
      tests.push((i) => data.error[i] !== 0);
    } else if (parts && facts[parts[1]]) {
      const fact = facts[parts[1]];
      let value = unquote(parts[3]);
      if (parts[1] === 'dur' || parts[1] === 'time') {
        const number = value.match(/^([0-9.]+)(s|ms|us|µs|ns)$/);
        if (!number) throw new Error(`'${value}' is no time such as 10ms`);
        value = Number(number[1]) * units[number[2]];
      } else if (parts[1] === 'pid' || parts[1] === 'tid') {
        value = Number(value);
      }
      if (parts[2] === '~') tests.push((i) => String(fact(i)).includes(value));
      else tests.push((i) => compare[parts[2]](fact(i), value));
    } else if (parts) {
      throw new Error(`'${parts[1]}' is none of ${Object.keys(facts).join(', ')}`);
    } else {
      const wanted = unquote(word).toLowerCase();
      const inJson = JSON.stringify(wanted).slice(1, -1);
      const inTexts = new Uint8Array(data.textCount);
      for (let i = 1; i < data.textCount; ++i) inTexts[i] = data.textAt(i).toLowerCase().includes(inJson) ? 1 : 0;
      const inStrings = data.strings.map((string) => string.toLowerCase().includes(wanted));
      tests.push((i) => inTexts[data.arguments[i]] === 1 || inStrings[data.name[i]] || inStrings[data.error[i]] || inStrings[data.object[i]]);
    }
  }
  return (i) => tests.every((test) => test(i));
}

function detailsOf(data, i) {
  const parts = callParts(data, i);
  const thread = data.threads[data.thread[i] - 1];
  const process = data.processById.get(thread[T.process]);
  const nested = (value, type) => {
    if (value === null || typeof value !== 'object') return document.createTextNode(valueText(value, type));
    const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    return make('dl', '', ...entries.flatMap(([name, each]) => [make('dt', '', name), make('dd', '', nested(each, 'string' === name ? 'str' : type))]));
  };
  const list = make('dl');
  const add = (name, value) => list.append(make('dt', '', name), make('dd', '', value));
  add('call', data.strings[data.name[i]]);
  add('process', `${process ? process[P.pid] + ' ' + process[P.command] : '?'}, thread ${thread[T.tid]}`);
  add('start', seconds(data.start[i]) + ' s');
  add('duration', time(data.duration[i]));
  if (parts.list === null) add('arguments', 'were left out');
  for (let k = 0; parts.list && k < parts.list.length; k += 3) add(parts.list[k] || String(k / 3 + 1), nested(parts.list[k + 2], parts.list[k + 1]));
  if (data.end[i]) add('result', endings[data.end[i]]);
  else add('result', data.error[i] ? make('span', 'bad', '-1 ' + data.strings[data.error[i]]) : nested(parts.result, ''));
  if (parts.note !== null) add('note', nested(parts.note, ''));
  if (data.object[i]) add('about', data.strings[data.object[i]]);
  if (data.stack[i]) {
    const frames = [];
    for (let node = data.stack[i]; node; node = data.stacks[node][0]) frames.push(data.strings[data.stacks[node][1]]);
    add('stack', make('pre', '', frames.join('\n')));
  }
  return list;
}

function showCalls(data) {
  const height = 22;
  const tallest = 8e6; // what browsers scroll without losing precision
  const section = $('calls');
  const input = make('input');
  input.type = 'search';
  input.placeholder = 'failed dur>10ms call==openat errno==ENOENT path~/etc pid==42, or any text   ( / )';
  input.setAttribute('aria-label', 'Filter of the calls');
  const found = make('span', 'soft');
  const list = make('div', 'list');
  list.tabIndex = 0;
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Calls. Arrow keys move.');
  const spacer = make('div');
  list.append(spacer);
  const details = make('div', 'details', 'Choose a call to see every argument.');
  const all = Float64Array.from({ length: data.rows }, (_, i) => i);
  let rows = all;
  let selected = -1;
  const whole = () => rows.length * height;
  const visible = () => Math.ceil(list.clientHeight / height);
  const top = () => {
    const most = Math.max(0, rows.length - visible() + 1);
    return whole() <= tallest ? Math.floor(list.scrollTop / height) : Math.round((list.scrollTop / (tallest - list.clientHeight)) * most);
  };
  function draw() {
    const first = top();
    const offset = whole() <= tallest ? first * height : list.scrollTop;
    const drawn = [];
    for (let k = first; k < Math.min(rows.length, first + visible() + 1); ++k) {
      const i = rows[k];
      const thread = data.threads[data.thread[i] - 1];
      const row = make('div', 'row' + (data.error[i] ? ' bad' : ''), make('span', 'soft', seconds(data.start[i])), make('span', '', `${thread[T.tid]} ${thread[T.command]}`),
        make('span', '', callText(data, i)), make('span', '', data.end[i] ? '' : time(data.duration[i])));
      row.style.top = offset + (k - first) * height + 'px';
      row.setAttribute('role', 'option');
      row.setAttribute('aria-selected', k === selected);
      row.addEventListener('click', () => select(k));
      drawn.push(row);
    }
    list.replaceChildren(spacer, ...drawn);
  }
  function select(k) {
    selected = Math.max(0, Math.min(rows.length - 1, k));
    if (rows.length === 0) return;
    const first = top();
    if (selected < first || selected >= first + visible() - 1) {
      const wanted = Math.max(0, selected - Math.floor(visible() / 2));
      list.scrollTop = whole() <= tallest ? wanted * height : (wanted / Math.max(1, rows.length - visible() + 1)) * (tallest - list.clientHeight);
    }
    details.replaceChildren(detailsOf(data, rows[selected]));
    draw();
  }
  function apply() {
    try {
      const test = parseFilter(data, input.value);
      rows = input.value.trim() ? all.filter(test) : all;
      found.className = 'soft';
      found.textContent = rows.length === data.rows ? `${count(data.rows)} calls` : `${count(rows.length)} of ${count(data.rows)} calls`;
    } catch (error) {
      found.className = 'bad';
      found.textContent = error.message;
      return;
    }
    selected = -1;
    spacer.style.height = Math.min(tallest, whole()) + 'px';
    list.scrollTop = 0;
    draw();
  }
  let timer = 0;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(apply, 150);
  });
  const keys = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity };
  list.addEventListener('keydown', (event) => {
    if (event.key in keys) {
      event.preventDefault();
      select(Math.max(0, Math.min(rows.length - 1, selected + keys[event.key])));
    }
  });
  list.addEventListener('scroll', draw);
  addEventListener('resize', draw);
  addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== input) {
      event.preventDefault();
      input.focus();
    }
  });
  section.append(make('div', 'tools', input, found), list, details);
  apply();
  return {
    filterBy(text) {
      input.value = text;
      apply();
      section.scrollIntoView();
      list.focus({ preventScroll: true });
    },
    goTo(row) {
      input.value = '';
      apply();
      select(row);
      section.scrollIntoView();
      list.focus({ preventScroll: true });
    },
  };
}

// ------------------------------------------------------------------------------------------------ the page

async function show() {
  const data = readData(await unpack());
  showTitle(data);
  const calls = showCalls(data);
  showOverview(data, calls.goTo);
  showProcesses(data, calls.filterBy);
  showTimeline(data, calls.goTo);
  showCounts(data, calls.filterBy);
  const isFile = (object) => /^(?!\/(?:memfd|anon)).*\//.test(data.strings[object[0]]) && !/^[A-Za-z0-9-]+:\[/.test(data.strings[object[0]]);
  showObjects(data, 'files', data.objects.filter(isFile), calls.filterBy);
  showObjects(data, 'sockets', data.objects.filter((object) => !isFile(object)), calls.filterBy);
  showFlames(data);
  for (const section of document.querySelectorAll('main section')) {
    const link = make('a', '', section.querySelector('h2').textContent.replace(/, pipes.*/, ''));
    link.href = '#' + section.id;
    document.querySelector('nav').append(link);
  }
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

show().catch((error) => {
  $('subtitle').textContent = typeof DecompressionStream === 'undefined' ? 'This browser is too old: it cannot unpack gzip (DecompressionStream).' : 'The report cannot be shown: ' + error.message;
  document.documentElement.dataset.failed = error.message;
  throw error;
});
