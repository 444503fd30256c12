/** Paired differences with their 95% intervals, grey where Holm's p is 5% or more. */

import { type Chosen, type Difference, differencesOf, freeKeys, pointWords, type Sweep } from "../data/sweep";
import { differenceWords } from "../data/sweepwords";
import type { Palette } from "../draw/palette";
import { linear } from "../draw/scale";
import type { Surface } from "../draw/surface";
import { acrossAxis, type Box, RIGHT, type Spot } from "./measured";

export const MOST_PAIRS = 40;
const TOP = 8;
const BOTTOM = 46;
const ROW = 22;
/** Where words and interval have no room beside each other, one is above the other. */
const NARROW = 640;
const STACKED = 36;

export function pairsHeight(width: number, sweep: Sweep, chosen: Chosen): number {
  const rows = Math.min(MOST_PAIRS, differencesOf(sweep, chosen).length);
  return TOP + BOTTOM + Math.max(2, rows) * (width < NARROW ? STACKED : ROW);
}

/** What is told apart, and what it is taken from: `delay 10ms: linux-6-bbr less linux-6-cubic`. */
function told(sweep: Sweep, free: readonly number[], row: Difference): string {
  const cut = row.against.indexOf("=");
  const key = sweep.plan.keys.indexOf(row.against.slice(0, cut));
  const others = pointWords(sweep, free.filter((k) => k !== key), row);
  const less = `${row.values[key] ?? ""} less ${row.against.slice(cut + 1)}`;
  return others === "" ? less : `${others}: ${less}`;
}

/** Returns where the means stand. */
export function drawDifferences(s: Surface, palette: Palette, sweep: Sweep, chosen: Chosen): Spot[] {
  s.rect(0, 0, s.width, s.height, palette.background);
  const free = freeKeys(sweep, chosen);
  const rows = differencesOf(sweep, chosen).slice(0, MOST_PAIRS);
  const names = rows.map((row) => told(sweep, free, row));
  const stacked = s.width < NARROW;
  const left = stacked ? 12 : 16 + Math.max(80, ...names.map((name) => s.textWidth(name)));
  const box: Box = { x: left, y: TOP, w: s.width - left - RIGHT, h: s.height - TOP - BOTTOM };
  const ends = rows.flatMap((row) => [row.difference, row.t_low, row.t_high]).filter((value) => value !== null);
  const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
  const margin = (high - low || 1) * 0.04;
  const x = linear(low - margin, high + margin, box.x, box.x + box.w);
  acrossAxis(s, palette, sweep, chosen.measure, x, box, `difference of ${sweep.measures[chosen.measure].noun}`);
  s.line(x(0), box.y, x(0), box.y + box.h, palette.axis, 1.2);
  const tall = box.h / Math.max(1, rows.length);
  return rows.flatMap((row, k) => {
    if (row.difference === null) return [];
    const y = box.y + (k + (stacked ? 0.72 : 0.5)) * tall;
    const sure = row.p_holm !== null && row.p_holm < 0.05;
    const colour = !sure ? palette.faint : row.difference > 0 ? palette.blue : palette.lost;
    if (stacked) s.text(box.x, box.y + (k + 0.3) * tall, names[k], { colour: palette.ink, size: 10.5 });
    else s.text(box.x - 10, y, names[k], { colour: palette.ink, align: "right" });
    if (row.t_low !== null && row.t_high !== null) s.line(x(row.t_low), y, x(row.t_high), y, colour, 1.8);
    s.markers(sure ? "circle" : "diamond", [x(row.difference), y], 4.2, colour, palette.markerEdge);
    return [{ x: x(row.difference), y, words: `${names[k]}: ${differenceWords(sweep, row)}` }];
  });
}
