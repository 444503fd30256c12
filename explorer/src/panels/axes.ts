/** Axes: round values, with lines through what they measure. */

import { decimals, type Scale, ticks, tickStep } from "../draw/scale";
import { grouped, prefixOf } from "../draw/units";
import { fromShown } from "../data/clock";
import { type Box, type Scene, told, type Unit } from "./scene";

/** plot: everything above the axis.  boxes: what has lines at its ticks. */
export function timeGrid(scene: Scene, plot: Box, boxes: readonly Box[], words: string): void {
  const { s, palette } = scene;
  const most = Math.max(2, plot.w / 96);
  const [from, to] = [told(scene, scene.from), told(scene, scene.to)];
  const digits = decimals(tickStep(from, to, most));
  const bottom = plot.y + plot.h;
  for (const t of ticks(from, to, most)) {
    const x = Math.round(scene.x(fromShown(scene.axis, t))) + 0.5;
    for (const box of boxes) s.line(x, box.y, x, box.y + box.h, palette.grid);
    s.line(x, bottom, x, bottom + 4, palette.axis);
    const mark = grouped(t, digits);
    const most = s.width - s.textWidth(mark) / 2 - 1;
    s.text(Math.min(x, most), bottom + 12, mark, { colour: palette.soft, align: "center" });
  }
  s.line(plot.x, bottom + 0.5, plot.x + plot.w, bottom + 0.5, palette.axis);
  s.text(plot.x + plot.w, bottom + 24, words, {
    colour: palette.soft,
    align: "right",
    size: 10,
  });
}

export function valueAxis(scene: Scene, of: Unit, y: Scale, box: Box): void {
  const { s, palette } = scene;
  const room = Math.max(1, box.h / 34);
  // One mark alone measures nothing.
  const most = ticks(y.d0, y.d1, room).length > 1 ? room : 2 * room;
  const marks = ticks(y.d0, y.d1, most);
  const step = tickStep(y.d0, y.d1, most);
  const largest = Math.max(Math.abs(y.d0), Math.abs(y.d1));
  const [scale, unit] = unitOf(of, largest);
  const digits = decimals(step / scale);
  marks.forEach((value, k) => {
    const at = Math.round(y(value)) + 0.5;
    s.line(box.x, at, box.x + box.w, at, palette.grid);
    const told = grouped(value / scale, Math.min(6, digits));
    const last = k === marks.length - 1 ? ` ${unit}` : "";
    s.text(box.x - 6, Math.max(at, box.y + 5), told + last, { colour: palette.soft, align: "right" });
  });
  s.line(box.x + 0.5, box.y, box.x + 0.5, box.y + box.h, palette.axis);
}

function unitOf(of: Unit, largest: number): [number, string] {
  if (of === "s") return largest < 1 ? [1e-3, "ms"] : [1, "s"];
  const [scale, prefix] = prefixOf(largest);
  return [scale, prefix + (of === "bps" ? "bps" : "B")];
}
