/** A measure over two keys: a cell for each pair of their values, a map for each combination of other keys. */

import { type Chosen, type Grid, gridsOf, isScattered, marksOf, planesOf, type Sweep, upOf } from "../data/sweep";
import { meanWords, unitOf, words } from "../data/sweepwords";
import { inkOn, type Palette } from "../draw/palette";
import { linear } from "../draw/scale";
import type { Surface } from "../draw/surface";
import { three } from "../draw/units";
import { type Box, measureMarks, type Spot } from "./measured";

/** Maps beside and below each other. */
export const MOST_MAPS = 6;
const LEAST_WIDTH = 330;
/** Room below a map for its values and key, above it for its words, and between two of them. */
const BELOW = 44;
const ABOVE = 24;
const BETWEEN = 18;
const BAR = 84;
const CHARACTER = 6.4;
/** cividis (Nuñez, Anderton, Renslow 2018): the same to whoever sees colours otherwise, and evenly lighter in grey. */
const CIVIDIS = [
  "#00224e", "#002e6a", "#1a386f", "#32436d", "#434e6c", "#535a6d", "#61656f", "#6f7073", "#7d7c78", "#8c8878",
  "#9b9476", "#aba072", "#bcae6c", "#cdbb63", "#dec958", "#f0d846", "#fee838",
];

export function colourAt(share: number): string {
  const at = Math.min(Math.max(share, 0), 1) * (CIVIDIS.length - 1);
  const k = Math.min(Math.floor(at), CIVIDIS.length - 2);
  const mixed = [1, 3, 5].map((c) => {
    const [a, b] = [CIVIDIS[k], CIVIDIS[k + 1]].map((colour) => parseInt(colour.slice(c, c + 2), 16));
    return Math.round(a + (b - a) * (at - k)).toString(16).padStart(2, "0");
  });
  return `#${mixed.join("")}`;
}

/** How many of so many maps stand in a row. */
function inARow(width: number, maps: number): number {
  return Math.max(1, Math.min(maps, Math.floor((width - BAR) / LEAST_WIDTH)));
}

/** Where a map is. */
export type Frame = Box;

/** Of so many maps, at most as many as there is room for. left: beside each of them. */
export function framesOf(s: Surface, maps: number, left: number): Frame[] {
  const n = Math.min(maps, MOST_MAPS);
  const across = inARow(s.width, n);
  const wide = (s.width - BAR) / across;
  const tall = (s.height - 8) / Math.ceil(n / across);
  return Array.from({ length: n }, (_, k) => ({
    x: (k % across) * wide + left,
    y: Math.floor(k / across) * tall + ABOVE,
    w: wide - left - BETWEEN,
    h: tall - ABOVE - BELOW,
  }));
}

/** How many maps there are. */
export function mapsOf(sweep: Sweep, chosen: Chosen, up: number): number {
  return (isScattered(sweep, chosen, up) ? planesOf : gridsOf)(sweep, chosen, up).length;
}

export function mapHeight(width: number, sweep: Sweep, chosen: Chosen): number {
  const up = upOf(sweep, chosen);
  if (up === null) return 400;
  const maps = Math.min(MOST_MAPS, mapsOf(sweep, chosen, up));
  const rows = isScattered(sweep, chosen, up) ? 9 : marksOf(sweep, chosen, up).length;
  const one = Math.min(420, Math.max(170, 34 * rows)) + ABOVE + BELOW;
  return Math.max(300, one * Math.ceil(maps / inARow(width, maps)) + 8);
}

/** Returns the cells. */
export function drawMap(s: Surface, palette: Palette, sweep: Sweep, chosen: Chosen, up: number): Spot[] {
  const grids = gridsOf(sweep, chosen, up).slice(0, MOST_MAPS);
  const xs = marksOf(sweep, chosen, chosen.along);
  const ys = marksOf(sweep, chosen, up);
  const means = grids.flatMap((grid) => grid.cells.map(({ mean }) => mean.mean)).filter((mean) => mean !== null);
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const left = 14 + CHARACTER * Math.max(4, ...ys.map((value) => value.length));
  const spots = framesOf(s, grids.length, left).flatMap((box, k) =>
    drawGrid(s, palette, sweep, chosen, up, { grid: grids[k], xs, ys, box, low, high }),
  );
  if (means.length > 0) colourBar(s, palette, sweep, chosen, low, high);
  return spots;
}

interface Drawn {
  grid: Grid;
  xs: string[];
  ys: string[];
  box: Box;
  low: number;
  high: number;
}

function drawGrid(s: Surface, palette: Palette, sweep: Sweep, chosen: Chosen, up: number, drawn: Drawn): Spot[] {
  const { grid, xs, ys, box, low, high } = drawn;
  const [w, h] = [box.w / xs.length, box.h / ys.length];
  if (grid.words !== "") s.text(box.x, box.y - 12, grid.words, { colour: palette.ink, bold: true });
  // What no cell covers has no mean.
  s.hatch(box.x, box.y, box.w, box.h, palette.outage);
  const spots: Spot[] = [];
  const [by] = unitOf(sweep, chosen.measure, high);
  for (const { x, y, mean } of grid.cells) {
    if (mean.mean === null) continue;
    const [at, top] = [box.x + x * w, box.y + box.h - (y + 1) * h];
    s.rect(at, top, w, h, palette.background);
    const colour = colourAt(high > low ? (mean.mean - low) / (high - low) : 0.5);
    s.rect(at, top, w - 1, h - 1, colour);
    // As wide as there is room: with its unit, or in that of the bar.
    const said = [words(sweep, chosen.measure, mean.mean), three(mean.mean / by)].find((text) => s.textWidth(text) + 8 < w);
    if (said !== undefined && h > 16) {
      s.text(at + w / 2, top + h / 2, said, { colour: inkOn(colour), align: "center" });
    }
    const where = `${sweep.plan.keys[up]} ${mean.point.values[up]}${grid.words === "" ? "" : `, ${grid.words}`}`;
    spots.push({ x: at + w / 2, y: top + h / 2, w, h, words: `${where}: ${meanWords(sweep, chosen, mean)}` });
  }
  const thin = (marks: string[], room: number, each: number): number => Math.max(1, Math.ceil((marks.length * each) / room));
  const everyX = thin(xs, box.w, CHARACTER * Math.max(...xs.map((value) => value.length)) + 10);
  const everyY = thin(ys, box.h, 15);
  xs.forEach((value, k) => {
    if (k % everyX === 0) s.text(box.x + (k + 0.5) * w, box.y + box.h + 12, value, { colour: palette.soft, align: "center" });
  });
  ys.forEach((value, k) => {
    if (k % everyY === 0) s.text(box.x - 7, box.y + box.h - (k + 0.5) * h, value, { colour: palette.soft, align: "right" });
  });
  const keys = `${sweep.plan.keys[up]} ↑   ${sweep.plan.keys[chosen.along]} →`;
  s.text(box.x + box.w, box.y + box.h + 30, keys, { colour: palette.soft, align: "right", size: 10.5 });
  return spots;
}

/** What the colours mean. */
export function colourBar(s: Surface, palette: Palette, sweep: Sweep, { measure }: Chosen, low: number, high: number): void {
  const several = high > low;
  const scale = linear(low, several ? high : low + 1, s.height - BELOW - 8, ABOVE);
  const x = s.width - BAR + 6;
  const steps = several ? 64 : 1;
  const tall = scale.p0 - scale.p1;
  for (let k = 0; k < steps; k++) {
    const colour = colourAt(several ? (k + 0.5) / steps : 0.5);
    s.rect(x, scale.p0 - ((k + 1) / steps) * tall, 13, tall / steps + 0.6, colour);
  }
  if (!several) {
    s.text(x + 18, (scale.p0 + scale.p1) / 2, words(sweep, measure, scale.d0), { colour: palette.soft });
    return;
  }
  const { marks, unit } = measureMarks(sweep, measure, scale, Math.max(2, tall / 48));
  for (const [value, said] of marks) s.text(x + 18, scale(value), said, { colour: palette.soft });
  s.text(x, scale.p1 - 12, unit, { colour: palette.soft });
}
