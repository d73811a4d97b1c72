'use strict';
// Draws what `perigee replay --json` says. Each plot is a <figure data-plot="..."> whose
// <svg> is marked data-drawn when it is done: a test looks for these.

const report = JSON.parse(document.getElementById('report').textContent);
const course = report.course;
const colours = ['#1f6feb', '#e8710a', '#188038', '#a142f4', '#c5221f', '#12858a', '#b06000',
                 '#5f6368'];
const size = {width: 590, height: 265, left: 56, right: 18, top: 12, bottom: 38};

// -- numbers ------------------------------------------------------------------

const number = d3.format(',');
const oneDigit = d3.format(',.1f');
const twoDigits = d3.format(',.2f');

function duration(ms) {
  return ms >= 10000 ? oneDigit(ms / 1000) + ' s' : ms >= 100 ? number(Math.round(ms)) + ' ms'
                                                             : oneDigit(ms) + ' ms';
}

function bytes(value) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; ++unit)
    value /= 1024;
  return (value >= 100 || value === 0 ? Math.round(value) : oneDigit(value)) + ' ' + units[unit];
}

// Whole multiples of a unit, which powers of ten are not.
function byteTicks(most) {
  const unit = Math.pow(1024, Math.floor(Math.log(Math.max(most, 1)) / Math.log(1024)));
  return d3.scale.linear().domain([0, most / unit]).ticks(5).map((v) => v * unit);
}

// -- the cluster over time ----------------------------------------------------

// Windows of time, at most so many: the rows between which totals are compared.
function windowsOf(at, most) {
  const step = Math.max(1, Math.ceil((at.length - 1) / most));
  const windows = [];
  for (let i = 0; i + 1 < at.length; i += step) {
    const j = Math.min(i + step, at.length - 1);
    if (at[j] > at[i])
      windows.push({from: at[i], to: at[j], first: i, last: j});
  }
  return windows;
}

const growth = (totals, window) => totals[window.last] - totals[window.first];
const sum = (values) => d3.sum(values);

// How much each of `group` grew in each window: [{name, points: [{from, to, value}]}].
function growths(group, windows, scale) {
  return d3.entries(group).map(({key, value}) => ({
    name: key,
    points: windows.map((w) => ({from: w.from, to: w.to, value: scale(growth(value, w), w)})),
  }));
}

const some = (all) => all.filter((one) => one.points.some((p) => p.value > 0));

// -- frames -------------------------------------------------------------------

function figure(name, title, unit, wide) {
  const of = d3.select('#plots').append('figure').attr('data-plot', name).classed('wide', !!wide);
  of.append('figcaption').text(title).append('small').text(unit);
  return of;
}

function canvas(of, box) {
  const svg = of.append('svg').attr('viewBox', `0 0 ${box.width} ${box.height}`);
  return {
    svg,
    area: svg.append('g').attr('transform', `translate(${box.left},${box.top})`),
    width: box.width - box.left - box.right,
    height: box.height - box.top - box.bottom,
  };
}

function done(on) {
  on.svg.attr('data-drawn', 'yes');
}

function nothing(on, text) {
  on.area.append('text').attr('class', 'nothing').attr('text-anchor', 'middle')
    .attr('x', on.width / 2).attr('y', on.height / 2).text(text);
  done(on);
}

function drawAxes(on, x, y, labels) {
  const bottom = d3.svg.axis().scale(x).orient('bottom').ticks(7).tickSize(-on.height)
    .tickPadding(7);
  if (labels.xTicks)
    bottom.tickValues(labels.xTicks);
  if (labels.xFormat)
    bottom.tickFormat(labels.xFormat);
  on.area.append('g').attr('class', 'axis').attr('transform', `translate(0,${on.height})`)
    .call(bottom);
  const left = d3.svg.axis().scale(y).orient('left').ticks(5).tickSize(-on.width).tickPadding(7);
  if (labels.yTicks)
    left.tickValues(labels.yTicks(y.domain()[1]));
  if (labels.yFormat)
    left.tickFormat(labels.yFormat);
  on.area.append('g').attr('class', 'axis').call(left);
  on.svg.append('text').attr('text-anchor', 'end').attr('x', size.left + on.width)
    .attr('y', on.height + size.top + 34).text(labels.x);
}

function legend(of, names, colourOf) {
  const list = of.insert('div', 'svg').attr('class', 'legend');
  names.forEach((name, i) => {
    const one = list.append('span');
    one.append('i').style('background', colourOf(i));
    one.append('span').text(name);
  });
}

const timeScale = (on, end) => d3.scale.linear().domain([0, end]).range([0, on.width]);
const endOf = (at) => at[at.length - 1];

function readable(name) {
  return name.replace(/_/g, ' ');
}

// What was made to go wrong, from when until when.
function drawEvents(on, x, end) {
  on.area.append('g').selectAll('rect').data(report.events || []).enter().append('rect')
    .attr('class', 'event').attr('x', (e) => x(Math.min(e.at_s, end)))
    .attr('width', (e) => Math.max(1.5, x(Math.min(e.until_s || e.at_s, end))
                                        - x(Math.min(e.at_s, end))))
    .attr('height', on.height).append('title').text(eventText);
}

function eventText(e) {
  const until = 'until_s' in e ? `, until ${oneDigit(e.until_s)} s` : '';
  return `${oneDigit(e.at_s)} s: ${readable(e.what)}${until}`;
}

// -- kinds of plot ------------------------------------------------------------

// series: [{name, points: [{at, value}]}]
function drawLines(of, series, how) {
  legend(of, series.map((one) => readable(one.name)), (i) => colours[i % colours.length]);
  const on = canvas(of, size);
  const most = d3.max(series, (one) => d3.max(one.points, (p) => p.value)) || 0;
  const x = timeScale(on, how.end);
  const y = d3.scale.linear().domain([0, Math.max(most * 1.05, how.least || 1)])
    .range([on.height, 0]);
  drawAxes(on, x, y, {x: 'virtual time, s', yFormat: how.format});
  drawEvents(on, x, how.end);
  const line = d3.svg.line().x((p) => x(p.at)).y((p) => y(p.value));
  if (how.stepped)
    line.interpolate('step-after');
  series.forEach((one, i) => {
    on.area.append('path').attr('class', 'line').style('stroke', colours[i % colours.length])
      .attr('d', line(one.points));
  });
  if (how.limit)
    on.area.append('line').attr('class', 'limit').attr('x2', on.width)
      .attr('y1', y(how.limit)).attr('y2', y(how.limit));
  done(on);
}

// series: [{name, points: [{from, to, value}]}], one upon the other
function drawStack(of, series, how) {
  if (series.length === 0)
    return nothing(canvas(of, size), how.nothing);
  legend(of, series.map((one) => readable(one.name)), (i) => colours[i % colours.length]);
  const on = canvas(of, size);
  const heights = series[0].points.map((_, i) => sum(series.map((one) => one.points[i].value)));
  const x = timeScale(on, how.end);
  const y = d3.scale.linear().domain([0, how.most || d3.max(heights) * 1.05])
    .range([on.height, 0]);
  drawAxes(on, x, y, {x: 'virtual time, s', yFormat: how.format, yTicks: how.ticks});
  const below = heights.map(() => 0);
  series.forEach((one, i) => {
    on.area.append('g').style('fill', colours[i % colours.length]).selectAll('rect')
      .data(one.points).enter().append('rect')
      .attr('x', (p) => x(p.from))
      .attr('width', (p) => Math.max(0.5, x(p.to) - x(p.from) + 0.25))
      .attr('y', (p, at) => y(below[at] += p.value))
      .attr('height', (p) => on.height - y(p.value))
      .append('title').text((p) => `${readable(one.name)}, ${oneDigit(p.from)} to `
                                   + `${oneDigit(p.to)} s: ${how.told(p.value)}`);
  });
  drawEvents(on, x, how.end);
  done(on);
}

// quantiles: ascending, in even steps from 0 to 100 %
function drawDistribution(name, title, quantiles, limit, within) {
  const of = figure(name, title, '% of served requests, at most so long');
  const on = canvas(of, size);
  if (quantiles.length === 0)
    return nothing(on, 'no request has one');
  const least = Math.max(0.1, Math.min(d3.min(quantiles), limit) / 1.3);
  const most = Math.max(d3.max(quantiles), limit) * 1.3;
  const x = d3.scale.log().domain([least, most]).range([0, on.width]).clamp(true);
  const y = d3.scale.linear().domain([0, 100]).range([on.height, 0]);
  const candidates = most / least > 2000 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let power = 0.1; power <= most; power *= 10)
    candidates.forEach((c) => {
      if (c * power >= least && c * power <= most / 1.1)
        ticks.push(+(c * power).toPrecision(1));
    });
  drawAxes(on, x, y, {x: 'ms, logarithmic', xTicks: ticks, xFormat: number,
                      yFormat: (v) => v + ' %'});
  const share = (i) => 100 * i / (quantiles.length - 1);
  const line = d3.svg.line().x((v) => x(v)).y((v, i) => y(share(i)));
  on.area.append('path').attr('class', 'line').style('stroke', colours[0])
    .attr('d', line(quantiles));
  on.area.append('line').attr('class', 'limit').attr('x1', x(limit)).attr('x2', x(limit))
    .attr('y2', on.height);
  const isRight = x(limit) < 0.6 * on.width; // below the line there is room
  on.area.append('text').attr('class', 'limit-text')
    .attr('text-anchor', isRight ? 'start' : 'end')
    .attr('x', x(limit) + (isRight ? 6 : -6)).attr('y', on.height - 8)
    .text(`limit ${duration(limit)}: ${oneDigit(within)} % within`);
  done(on);
}

function drawHeat(rows, windows, end) {
  const of = figure('busy', 'How busy each instance was', '% of the time', true);
  const colour = d3.scale.linear().domain([0, 50, 100]).range(['#f3f6fa', '#6aa5ee', '#0b3d91'])
    .clamp(true);
  legend(of, ['0 %', '25 %', '50 %', '75 %', '100 %'], (i) => colour(25 * i));
  const high = Math.max(3, Math.min(18, 480 / rows.length));
  const box = {width: 1208, height: high * rows.length + 50, left: 104, right: 14, top: 12,
               bottom: 38};
  const on = canvas(of, box);
  const x = timeScale(on, end);
  const labelEvery = Math.ceil(13 / high);
  rows.forEach((row, i) => {
    const top = high * i;
    if (i % labelEvery === 0)
      on.area.append('text').attr('x', -8).attr('y', top + high / 2 + 4)
        .attr('text-anchor', 'end').text(row.name);
    on.area.append('g').selectAll('rect').data(row.points).enter().append('rect')
      .attr('x', (p) => x(p.from)).attr('y', top)
      .attr('width', (p) => Math.max(0.5, x(p.to) - x(p.from) + 0.25))
      .attr('height', high > 6 ? high - 1 : high).style('fill', (p) => colour(p.value))
      .append('title').text((p) => `${row.name}, ${oneDigit(p.from)} to ${oneDigit(p.to)} s: `
                                   + `${oneDigit(p.value)} %`);
  });
  drawEvents(on, x, end);
  on.area.append('g').attr('class', 'axis').attr('transform', `translate(0,${on.height})`)
    .call(d3.svg.axis().scale(x).orient('bottom').ticks(12).tickSize(4));
  on.svg.append('text').attr('text-anchor', 'end').attr('x', box.left + on.width)
    .attr('y', on.height + box.top + 34).text('virtual time, s');
  done(on);
}

// -- the page -----------------------------------------------------------------

function tiles() {
  const add = (value, what) => {
    const tile = d3.select('#tiles').append('div').attr('class', 'tile');
    tile.append('b').text(value);
    tile.append('span').text(what);
  };
  const percent = (value) => oneDigit(value) + ' %';
  add(number(report.requests), 'requests');
  add(percent(report.requests ? 100 * report.served / report.requests : 0), 'served');
  add(percent(report.within_percent), 'within the objectives');
  if (report.goodput)
    add(twoDigits(report.goodput.per_s) + ' /s', 'goodput');
  add(duration(report.ttft_ms.p50), 'TTFT, P50');
  add(duration(report.ttft_ms.p99), 'TTFT, P99');
  add(duration(report.tbt_ms.p50), 'TBT, P50');
  add(duration(report.tbt_ms.p99), 'TBT, P99');
  add(percent(report.hit_percent.all), 'of prompts was cached');
  add(percent(report.tokens.wasted_percent), 'of prefill was wasted');
  for (const [who, share] of Object.entries(report.busy_percent))
    add(percent(share), `${who} busy`);
}

function drawLoads(end) {
  const most = 1000; // without instances it is endless
  const of = figure('load', 'Load of both pools',
                    `% of the objective, as admission sees it, up to ${most}`);
  const points = (values) => values.map(
    (v, i) => ({at: course.at_s[i], value: Math.min(v / 10, most)}));
  drawLines(of, d3.entries(course.load_permille).map(
    ({key, value}) => ({name: key, points: points(value)})),
            {end, limit: 100, least: 105, format: (v) => v + ' %'});
}

function drawRequests(end) {
  const of = figure('requests', 'Requests at each pool', 'queued, in work, or expected');
  drawLines(of, d3.entries(course.requests).map(({key, value}) => ({
    name: key, points: value.map((v, i) => ({at: course.at_s[i], value: v}))})), {end});
}

function drawRejections(windows, end) {
  const of = figure('rejected', 'Rejections by who refused, and why', 'requests per second');
  drawStack(of, some(growths(course.rejected, windows, (n, w) => n / (w.to - w.from))),
            {end, nothing: 'no request was refused', told: (v) => twoDigits(v) + ' /s'});
}

function drawHits(windows, end) {
  const of = figure('hits', 'Where the KV of prompts was', '% of their tokens');
  const tokens = course.prompt_tokens;
  const all = windows.map((w) => sum(d3.values(tokens).map((totals) => growth(totals, w))));
  const tiers = d3.entries(tokens).filter(({key}) => key !== 'computed');
  const series = tiers.map(({key, value}) => ({
    name: key,
    points: windows.map((w, i) => ({
      from: w.from, to: w.to, value: all[i] ? 100 * growth(value, w) / all[i] : 0})),
  }));
  drawStack(of, some(series), {end, most: 100, nothing: 'nothing was cached',
                               format: (v) => v + ' %', told: (v) => oneDigit(v) + ' %'});
}

// The links that carried most, and all others as one.
function drawBytes(windows, end) {
  const of = figure('bytes', 'Bytes moved, by the node that moves them', 'per second');
  const rate = growths(course.bytes_moved, windows, (n, w) => n / (w.to - w.from));
  const weight = (one) => sum(one.points.map((p) => p.value * (p.to - p.from)));
  rate.sort((a, b) => weight(b) - weight(a));
  const shown = rate.slice(0, colours.length - 1);
  const rest = rate.slice(colours.length - 1);
  if (rest.length > 0)
    shown.push({name: `${rest.length} others`, points: windows.map((w, i) => ({
      from: w.from, to: w.to, value: sum(rest.map((one) => one.points[i].value))}))});
  drawStack(of, some(shown), {end, nothing: 'nothing was moved', format: bytes, ticks: byteTicks,
                              told: (v) => bytes(v) + '/s'});
}

function drawReplicas() {
  const at = report.replicas.at_s;
  const of = figure('replicas', 'Replicas of the blocks asked for most',
                    'shards that hold the block on that rank');
  drawLines(of, d3.entries(report.replicas.replicas).map(({key, value}) => ({
    name: key, points: value.map((v, i) => ({at: at[i], value: v}))})),
            {end: endOf(at), stepped: true, least: 2});
}

function drawBusy(windows, end) {
  const share = (ns, w) => 100 * ns / 1e9 / (w.to - w.from);
  const rows = growths(course.prefill_busy_ns || {}, windows, share)
    .concat(growths(course.decode_busy_ns || {}, windows, share))
    .concat(growths(course.coupled_busy_ns || {}, windows, share));
  drawHeat(rows, windows, end);
}

function draw() {
  d3.select('#subject').text(`${report.trace} on ${report.topology}, seed ${report.seed}; `
                             + `${oneDigit(report.lasted_s)} s of virtual time`);
  d3.select('#events').selectAll('li').data(report.events || []).enter().append('li')
    .text(eventText);
  tiles();
  const end = Math.max(endOf(course.at_s), 0.001);
  drawDistribution('ttft', 'Time to the first token (TTFT)', report.distributions.ttft_ms,
                   report.objectives_ms.ttft, report.ttft_within_percent);
  drawDistribution('tbt', 'Time between tokens (TBT, longest tenth)',
                   report.distributions.tbt_ms, report.objectives_ms.tbt,
                   report.tbt_within_percent);
  drawLoads(end);
  drawRequests(end);
  drawRejections(windowsOf(course.at_s, 90), end);
  drawHits(windowsOf(course.at_s, 60), end);
  drawBytes(windowsOf(course.at_s, 90), end);
  drawReplicas();
  drawBusy(windowsOf(course.at_s, 128), end);
}

draw();
