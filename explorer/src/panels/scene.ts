/** What every panel is given: where to draw, which time, which flow. */

import { type Clock, toShown } from "../data/clock";
import type { FlowData } from "../data/flow";
import { columnsOf, type Columns, type Series } from "../data/series";
import type { Track } from "../data/track";
import type { Palette } from "../draw/palette";
import { linear, type Scale } from "../draw/scale";
import type { Surface } from "../draw/surface";

export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Range {
  low: number;
  high: number;
}

export interface Scene {
  s: Surface;
  palette: Palette;
  data: FlowData;
  track: Track | null;
  x: Scale;
  from: number;
  to: number;
  /** Whole pixels of the plot: of each it is known what it holds. Column c begins at (first + c) step. */
  columns: number;
  first: number;
  step: number;
  /** What the time axis says of an instant of this flow's clock. */
  axis: Clock;
  /** What stands beside it, under the same axes. */
  beside: Shown | null;
  words: (set: string, name: string) => string;
}

/** What a panel is asked about before there is a scene. */
export interface Shown {
  data: FlowData;
  track: Track | null;
  beside?: Shown | null;
}

export type Unit = "bytes" | "bps" | "s";

export interface Panel {
  key: string;
  title: (scene: Scene) => string;
  /** Share of the height that is left; or a height in pixels. */
  weight: number;
  fixed?: (of: Shown) => number;
  wanted: (of: Shown) => boolean;
  range: (scene: Scene) => Range | null;
  unit?: Unit;
  draw: (scene: Scene, y: Scale, box: Box) => void;
}

/** A time axis whose columns of pixels begin at whole multiples of their width, at most half of one away from what
 * was asked for: as it moves, columns stay what they were. */
export function timeAxis(from: number, to: number, box: Box): Pick<Scene, "x" | "from" | "to" | "columns" | "first" | "step"> {
  const columns = box.w;
  // To nine digits: a view that only moves has the same width but for rounding.
  const step = Number(((to - from) / columns).toPrecision(9));
  const first = Math.round(from / step);
  const [low, high] = [first * step, (first + columns) * step];
  return { x: linear(low, high, box.x, box.x + box.w), from: low, to: high, columns, first, step };
}

/** As the time axis has it. */
export function told(scene: Scene, t: number): number {
  return toShown(scene.axis, t);
}

/** The series' extremes in each pixel column of the view. */
export function columnsIn(scene: Scene, series: Series): Columns {
  return columnsOf(series, scene.first, scene.step, scene.columns);
}

/** Places [a, z) of the series within the view, with one more on either side so that lines go on. */
export function within(scene: Scene, series: Series): [number, number] {
  return [series.from(scene.from), series.from(scene.to)];
}

/** The value of a step line at t. */
export function valueAt(series: Series, t: number): number | null {
  const place = series.from(t);
  return place < series.length && series.x[place] === t
    ? series.hi[place]
    : place > 0
      ? series.hi[place - 1]
      : null;
}

/** A line that stays at its last value, as a cumulative ACK does; exact to the pixel. Of rectangles on whole
 * pixels, which are drawn many times as fast as a path. */
export function steps(scene: Scene, series: Series, y: Scale, box: Box, colour: string): void {
  const { count, lo, hi, last: ends } = columnsIn(scene, series);
  const flat: number[] = [];
  let from = box.x;
  let level = valueAt(series, scene.from);
  const across = (to: number): void => {
    if (level !== null && to > from) flat.push(from, Math.round(y(level)), to - from, 1);
    from = to;
  };
  for (let c = 0; c < scene.columns; c++) {
    if (count[c] === 0) continue;
    across(box.x + c);
    const top = Math.round(y(level === null ? hi[c] : Math.max(level, hi[c])));
    const bottom = Math.round(y(level === null ? lo[c] : Math.min(level, lo[c])));
    flat.push(box.x + c, top, 1, bottom - top + 1);
    from = box.x + c + 1;
    level = ends[c];
  }
  const until = Math.round(Math.min(box.x + box.w, scene.x(Math.max(scene.data.to, scene.from))));
  if (scene.to > (series.x[0] ?? Infinity)) across(until);
  scene.s.rects(flat, colour);
}

/** A bar a pixel wide from the smallest to the largest value of each column, at least a pixel high. */
export function bars(scene: Scene, series: Series, y: Scale, box: Box, colour: string): void {
  const { count, lo, hi } = columnsIn(scene, series);
  const flat: number[] = [];
  let open = -1;
  for (let c = 0; c < scene.columns; c++) {
    if (count[c] === 0) {
      open = -1;
      continue;
    }
    const top = Math.round(y(hi[c]));
    const high = Math.max(1, Math.round(y(lo[c])) - top);
    // Neighbours alike are one.
    if (open >= 0 && flat[open + 1] === top && flat[open + 3] === high) flat[open + 2]++;
    else {
      open = flat.length;
      flat.push(box.x + c, top, 1, high);
    }
  }
  scene.s.rects(flat, colour);
}
