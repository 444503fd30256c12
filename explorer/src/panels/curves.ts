/** How a measure of a sweep answers to a key: means, their 95% intervals as bands, a line for each combination
 * of the other keys. */

import { axisOf, type Chosen, type Line, linesOf, type Mean, type Sweep } from "../data/sweep";
import { meanWords } from "../data/sweepwords";
import type { Palette } from "../draw/palette";
import { linear, type Scale } from "../draw/scale";
import type { Surface } from "../draw/surface";
import { type KeyAxis, keyAxis, keyWords } from "./keyaxis";
import { type Box, legend, LEFT, lineColours, MOST_LINES, RIGHT, SHAPES, type Spot, upwardAxis } from "./measured";

const BOTTOM = 46;

/** A mean, where it stands. */
interface Dot extends Mean {
  x: number;
  y: number;
}

/** Returns where the means stand. */
export function drawCurves(s: Surface, palette: Palette, sweep: Sweep, chosen: Chosen): Spot[] {
  s.rect(0, 0, s.width, s.height, palette.background);
  const lines = linesOf(sweep, chosen).slice(0, MOST_LINES);
  const top = legend(s, palette, lines.map(({ words }) => words)) + 10;
  const box = { x: LEFT, y: top, w: s.width - LEFT - RIGHT, h: s.height - top - BOTTOM };
  const x = keyAxis(sweep, chosen.along, lines.flatMap(({ means }) => means), box.x, box.x + box.w);
  const y = upward(lines, box.y + box.h, box.y);
  axes(s, palette, sweep, chosen, x, y, box);
  // Sampled values, and words, have nothing between them.
  const joined = axisOf(sweep, chosen.along).length === 1 && sweep.plan.units[chosen.along] !== null;
  const spots: Spot[] = [];
  lines.forEach((line, k) => {
    const colour = lineColours(palette)[k];
    const shape = SHAPES[k];
    const seen = line.means
      .filter((mean) => mean.mean !== null)
      .map((mean): Dot => ({ ...mean, x: x.of(mean), y: y(mean.mean!) }))
      .sort((a, b) => a.x - b.x);
    const known = seen.filter((dot) => dot.low !== null && dot.high !== null);
    s.clip(box.x, box.y - 8, box.w, box.h + 16, () => {
      if (joined && known.length > 1) {
        const upper = known.flatMap((dot) => [dot.x, y(dot.high!)]);
        const lower = [...known].reverse().flatMap((dot) => [dot.x, y(dot.low!)]);
        s.polygon([...upper, ...lower], `${colour}2e`);
      } else {
        for (const dot of known) s.line(dot.x, y(dot.low!), dot.x, y(dot.high!), colour, 1.2);
      }
      if (joined) s.polyline(seen.flatMap((dot) => [dot.x, dot.y]), colour, 1.6);
    });
    s.markers(shape, seen.flatMap((dot) => [dot.x, dot.y]), 4, colour, palette.markerEdge);
    const named = line.words === "" ? "" : `${line.words}: `;
    spots.push(...seen.map((dot) => ({ x: dot.x, y: dot.y, words: named + meanWords(sweep, chosen, dot) })));
  });
  return spots;
}

/** From 0 where the values come near it. */
function upward(lines: readonly Line[], p0: number, p1: number): Scale {
  const ends = lines.flatMap((line) => line.means.flatMap(({ mean, low, high }) => [mean, low, high]));
  const known = ends.filter((value) => value !== null);
  const high = Math.max(...known, -Infinity);
  const low = Math.min(...known, Infinity);
  if (!(high >= low)) return linear(0, 1, p0, p1);
  const span = high - low || Math.abs(high) || 1;
  const bottom = low >= 0 && low < 0.5 * high ? 0 : low - 0.08 * span;
  return linear(bottom, high + 0.08 * span, p0, p1);
}

function axes(s: Surface, palette: Palette, sweep: Sweep, chosen: Chosen, x: KeyAxis, y: Scale, box: Box): void {
  upwardAxis(s, palette, sweep, chosen.measure, y, box);
  for (const { at, words } of x.marks) {
    s.line(at, box.y, at, box.y + box.h + 4, palette.grid);
    s.text(at, box.y + box.h + 14, words, { colour: palette.soft, align: "center" });
  }
  s.line(box.x, box.y + box.h + 0.5, box.x + box.w, box.y + box.h + 0.5, palette.axis);
  s.line(box.x + 0.5, box.y, box.x + 0.5, box.y + box.h, palette.axis);
  s.text(box.x + box.w, box.y + box.h + 34, keyWords(sweep, chosen.along, x), { colour: palette.soft, align: "right" });
}
