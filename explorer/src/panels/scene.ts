/** What every panel is given: where to draw, which time, which flow. */

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
  /** Whole pixels of the plot: of each it is known what it holds. */
  columns: number;
  words: (set: string, name: string) => string;
}

/** What a panel is asked about before there is a scene. */
export type Shown = Pick<Scene, "data" | "track">;

export interface Panel {
  key: string;
  title: (scene: Scene) => string;
  /** Share of the height that is left; or a height in pixels. */
  weight: number;
  fixed?: (of: Shown) => number;
  wanted: (of: Shown) => boolean;
  range: (scene: Scene) => Range | null;
  unit?: "bytes" | "bps" | "s";
  draw: (scene: Scene, y: Scale, box: Box) => void;
}

export function timeScale(from: number, to: number, box: Box): Scale {
  return linear(from, to, box.x, box.x + box.w);
}

/** The series' extremes in each pixel column of the view. */
export function columnsIn(scene: Scene, series: Series): Columns {
  return columnsOf(series, scene.from, scene.to, scene.columns);
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

/** A line that stays at its last value, as a cumulative ACK does; exact to the pixel. */
export function steps(scene: Scene, series: Series, y: Scale, box: Box, colour: string, width = 1.2): void {
  const { count, lo, hi } = columnsIn(scene, series);
  const flat: number[] = [];
  let last = valueAt(series, scene.from);
  if (last !== null) flat.push(box.x, y(last));
  for (let c = 0; c < scene.columns; c++) {
    if (count[c] === 0) continue;
    const x = box.x + c + 0.5;
    if (last !== null) flat.push(x, y(last));
    const end = valueAt(series, scene.from + ((c + 1) * (scene.to - scene.from)) / scene.columns) ?? hi[c];
    if (count[c] > 1 && lo[c] !== hi[c]) flat.push(x, y(lo[c]), x, y(hi[c]));
    flat.push(x, y(end));
    last = end;
  }
  if (last !== null && flat.length > 0 && scene.to > series.x[0]) {
    flat.push(Math.min(box.x + box.w, scene.x(Math.max(scene.data.to, scene.from))), y(last));
  }
  scene.s.polyline(flat, colour, width);
}

/** A bar a pixel wide from the smallest to the largest value of each column, at least a pixel high. */
export function bars(scene: Scene, series: Series, y: Scale, box: Box, colour: string): void {
  const { count, lo, hi } = columnsIn(scene, series);
  const flat: number[] = [];
  for (let c = 0; c < scene.columns; c++) {
    if (count[c] === 0) continue;
    const top = y(hi[c]);
    flat.push(box.x + c, top, 1, Math.max(1, y(lo[c]) - top));
  }
  scene.s.rects(flat, colour);
}
