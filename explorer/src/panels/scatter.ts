/** A measure over two keys that were sampled: a dot for each point, in the colour of its mean. */

import { type Chosen, meansOf, type Plane, planesOf, type Sweep } from "../data/sweep";
import { meanWords } from "../data/sweepwords";
import type { Palette } from "../draw/palette";
import type { Surface } from "../draw/surface";
import { colourAt, colourBar, type Frame, framesOf } from "./heatmap";
import { keyAxis, keyWords } from "./keyaxis";
import type { Spot } from "./measured";

const LEFT = 58;
/** Of a dot; where there are very many of them a smaller one. */
const RADIUS = 6;
const SMALL = 4;
const MANY = 400;

/** Returns the dots. */
export function drawScatter(s: Surface, palette: Palette, sweep: Sweep, chosen: Chosen, up: number): Spot[] {
  const planes = planesOf(sweep, chosen, up);
  const means = meansOf(sweep, chosen).flatMap(({ mean }) => (mean === null ? [] : [mean]));
  const [low, high] = [Math.min(...means), Math.max(...means)];
  const spots = framesOf(s, planes.length, LEFT).flatMap((frame, k) =>
    drawPlane(s, palette, sweep, chosen, up, planes[k], frame, (mean) => colourAt(high > low ? (mean - low) / (high - low) : 0.5)),
  );
  if (means.length > 0) colourBar(s, palette, sweep, chosen, low, high);
  return spots;
}

function drawPlane(
  s: Surface,
  palette: Palette,
  sweep: Sweep,
  chosen: Chosen,
  up: number,
  { words, means }: Plane,
  box: Frame,
  colour: (mean: number) => string,
): Spot[] {
  const x = keyAxis(sweep, chosen.along, meansOf(sweep, chosen), box.x, box.x + box.w);
  const y = keyAxis(sweep, up, meansOf(sweep, chosen), box.y + box.h, box.y);
  if (words !== "") s.text(box.x, box.y - 12, words, { colour: palette.ink, bold: true });
  for (const { at, words } of x.marks) {
    s.line(at, box.y, at, box.y + box.h + 4, palette.grid);
    s.text(at, box.y + box.h + 13, words, { colour: palette.soft, align: "center" });
  }
  for (const { at, words } of y.marks) {
    s.line(box.x, at, box.x + box.w, at, palette.grid);
    s.text(box.x - 7, at, words, { colour: palette.soft, align: "right" });
  }
  s.line(box.x, box.y + box.h + 0.5, box.x + box.w, box.y + box.h + 0.5, palette.axis);
  s.line(box.x + 0.5, box.y, box.x + 0.5, box.y + box.h, palette.axis);
  const keys = `${keyWords(sweep, up, y)} ↑   ${keyWords(sweep, chosen.along, x)} →`;
  s.text(box.x + box.w, box.y + box.h + 30, keys, { colour: palette.soft, align: "right", size: 10.5 });
  const radius = means.length > MANY ? SMALL : RADIUS;
  return means.flatMap((mean) => {
    if (mean.mean === null) return [];
    const [px, py] = [x.of(mean), y.of(mean)];
    s.markers("circle", [px, py], radius, colour(mean.mean), palette.soft);
    const where = `${sweep.plan.keys[up]} ${mean.point.values[up]}${words === "" ? "" : `, ${words}`}`;
    return [{ x: px, y: py, words: `${where}: ${meanWords(sweep, chosen, mean)}` }];
  });
}
