/** What the charts of a sweep share: colours and shapes of lines, their legend, an axis of a measure. */

import type { Sweep } from "../data/sweep";
import { unitOf } from "../data/sweepwords";
import type { Palette } from "../draw/palette";
import { decimals, type Scale, ticks, tickStep } from "../draw/scale";
import type { Marker, Surface } from "../draw/surface";
import { grouped } from "../draw/units";

/** Lines that can be told apart. */
export const MOST_LINES = 8;
export const SHAPES: Marker[] = ["circle", "square", "up", "diamond", "down", "plus", "hexagon", "cross"];
export const LEFT = 74;
export const RIGHT = 16;
const LINE = 18;

export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Where the pointer finds something, and what it says. w, h: of an area around x, y. */
export interface Spot {
  x: number;
  y: number;
  w?: number;
  h?: number;
  words: string;
}

export function lineColours({ hues, ink }: Palette): string[] {
  return [ink, hues.blue, hues.red, hues.green, hues.orange, hues.purple, hues.sky, hues.grey];
}

/** Returns where it ends. */
export function legend(s: Surface, palette: Palette, lines: readonly string[]): number {
  if (lines.length < 2) return 4;
  let x = LEFT;
  let y = 12;
  lines.forEach((words, k) => {
    const wide = 26 + s.textWidth(words) + 16;
    if (x + wide > s.width && x > LEFT) {
      x = LEFT;
      y += LINE;
    }
    s.line(x, y, x + 18, y, lineColours(palette)[k], 1.6);
    s.markers(SHAPES[k], [x + 9, y], 4, lineColours(palette)[k], palette.markerEdge);
    s.text(x + 24, y, words, { colour: palette.ink });
    x += wide;
  });
  return y + LINE / 2;
}

/** Round values of a measure between the ends of a scale, as an axis writes them, and their unit. */
export function measureMarks(sweep: Sweep, measure: number, scale: Scale, most: number): { marks: [number, string][]; unit: string } {
  const [by, unit] = unitOf(sweep, measure, Math.max(Math.abs(scale.d0), Math.abs(scale.d1)));
  const digits = decimals(tickStep(scale.d0, scale.d1, most) / by);
  const sign = (value: number): string => grouped(value / by, digits).replace("-", "−");
  return { marks: ticks(scale.d0, scale.d1, most).map((value) => [value, sign(value)]), unit };
}

/** The measure upwards: lines, their values, and the unit above. */
export function upwardAxis(s: Surface, palette: Palette, sweep: Sweep, measure: number, y: Scale, box: Box): void {
  const { marks, unit } = measureMarks(sweep, measure, y, Math.max(2, box.h / 48));
  for (const [value, words] of marks) {
    const at = Math.round(y(value)) + 0.5;
    s.line(box.x, at, box.x + box.w, at, palette.grid);
    s.text(box.x - 8, at, words, { colour: palette.soft, align: "right" });
  }
  s.text(8, box.y - 2, unit, { colour: palette.soft });
}

/** The measure from left to right. */
export function acrossAxis(s: Surface, palette: Palette, sweep: Sweep, measure: number, x: Scale, box: Box, what: string): void {
  const { marks, unit } = measureMarks(sweep, measure, x, Math.max(2, box.w / 96));
  for (const [value, words] of marks) {
    const at = Math.round(x(value)) + 0.5;
    s.line(at, box.y, at, box.y + box.h + 4, palette.grid);
    s.text(at, box.y + box.h + 14, words, { colour: palette.soft, align: "center" });
  }
  s.line(box.x, box.y + box.h + 0.5, box.x + box.w, box.y + box.h + 0.5, palette.axis);
  s.text(box.x + box.w, box.y + box.h + 34, unit === "" ? what : `${what} (${unit})`, { colour: palette.soft, align: "right" });
}
