/** How single runs of a sweep spread: the share of runs at or below each value, a line for each point. */

import type { Container } from "../data/container";
import { type Chosen, freeKeys, holds, pointWords, type Sweep } from "../data/sweep";
import { words } from "../data/sweepwords";
import type { Palette } from "../draw/palette";
import { linear } from "../draw/scale";
import type { Surface } from "../draw/surface";
import { percent } from "../draw/units";
import { acrossAxis, type Box, legend, LEFT, lineColours, MOST_LINES, RIGHT, SHAPES, type Spot } from "./measured";

const BOTTOM = 46;

interface Line {
  words: string;
  values: number[];
  shares: number[];
}

/** Lines of the points where the held keys have their values. runs: the measure's blob. */
export function spreadOf(sweep: Sweep, chosen: Chosen, runs: Container): Line[] {
  const [point, flow, value, share] = ["point", "flow", "value", "share"].map((name) => runs.columns.get(name));
  if (point === undefined || flow === undefined || value === undefined || share === undefined) return [];
  const free = freeKeys(sweep, chosen);
  const lines = new Map<number, Line>();
  sweep.points.forEach((of, k) => {
    if (holds(sweep, chosen, of)) lines.set(k, { words: pointWords(sweep, free, of), values: [], shares: [] });
  });
  for (let i = 0; i < runs.header.rows; i++) {
    const line = flow[i] === chosen.flow ? lines.get(point[i]) : undefined;
    line?.values.push(value[i]);
    line?.shares.push(share[i]);
  }
  return [...lines.values()].filter((line) => line.values.length > 0);
}

/** Returns where values are. */
export function drawSpread(s: Surface, palette: Palette, sweep: Sweep, chosen: Chosen, runs: Container): Spot[] {
  s.rect(0, 0, s.width, s.height, palette.background);
  const lines = spreadOf(sweep, chosen, runs).slice(0, MOST_LINES);
  const top = legend(s, palette, lines.map((line) => line.words)) + 10;
  const box: Box = { x: LEFT, y: top, w: s.width - LEFT - RIGHT, h: s.height - top - BOTTOM };
  const ends = lines.flatMap(({ values }) => [values[0], values[values.length - 1]]);
  const [low, high] = ends.length > 0 ? [Math.min(...ends), Math.max(...ends)] : [0, 1];
  const margin = (high - low || Math.abs(high) || 1) * 0.03;
  const x = linear(Math.max(low - margin, Math.min(0, low)), high + margin, box.x, box.x + box.w);
  const y = linear(0, 1, box.y + box.h, box.y);
  acrossAxis(s, palette, sweep, chosen.measure, x, box, sweep.measures[chosen.measure].noun);
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    const at = Math.round(y(share)) + 0.5;
    if (share > 0) s.line(box.x, at, box.x + box.w, at, palette.grid);
    s.text(box.x - 8, at, `${share * 100}%`, { colour: palette.soft, align: "right" });
  }
  s.line(box.x + 0.5, box.y, box.x + 0.5, box.y + box.h, palette.axis);
  s.text(box.x, box.y + box.h + 34, "share of runs at or below", { colour: palette.soft });
  return lines.flatMap(({ words: named, values, shares }, k) => {
    const colour = lineColours(palette)[k];
    const flat = [x(values[0]), y(0)];
    values.forEach((value, i) => flat.push(x(value), y(i === 0 ? 0 : shares[i - 1]), x(value), y(shares[i])));
    flat.push(box.x + box.w, y(shares[shares.length - 1]));
    s.clip(box.x, box.y - 2, box.w, box.h + 4, () => s.polyline(flat, colour, 1.6));
    // A shape at its middle tells lines apart without colour.
    const middle = Math.max(0, shares.findIndex((share) => share >= 0.5));
    s.markers(SHAPES[k], [x(values[middle]), y(shares[middle])], 4, colour, palette.markerEdge);
    return values.map((value, i) => ({
      x: x(value),
      y: y(shares[i]),
      words: `${named === "" ? "" : `${named}: `}${percent(shares[i])} of runs at or below ${words(sweep, chosen.measure, value)}`,
    }));
  });
}
