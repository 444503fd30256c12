/** Runs over each other, each from its own first packet: what was acknowledged, how fast, and when it was held up. */

import type { FlowData } from "../data/flow";
import type { Track } from "../data/track";
import type { Palette } from "../draw/palette";
import { linear } from "../draw/scale";
import type { Surface } from "../draw/surface";
import { SAME } from "../data/clock";
import { timeGrid, valueAxis } from "./axes";
import { episodeEnd } from "./bands";
import { ackedRates } from "./rates";
import { type Box, type Scene, steps, timeAxis } from "./scene";

export interface Run {
  label: string;
  data: FlowData;
  track: (columns: number) => Track | null;
}

const LEFT = 74;
/** A line of the legend. */
const LEGEND = 18;
const AXIS = 30;
const LANE = 13;
const GAP = 22;

/** One colour a run; what went wrong has none of its own here. */
export function runColours(palette: Palette): string[] {
  return [palette.blue, palette.hues.orange];
}

export function drawOverlaid(s: Surface, palette: Palette, runs: readonly Run[], words: Scene["words"]): void {
  s.rect(0, 0, s.width, s.height, palette.background);
  const colours = runColours(palette);
  const top = legend(s, palette, runs, colours);
  const longest = Math.max(...runs.map(({ data }) => data.to - data.detail.row.start_s));
  const w = Math.floor(s.width - LEFT - 10);
  const rest = s.height - top - AXIS - GAP - runs.length * LANE - 8;
  const upper: Box = { x: LEFT, y: top, w, h: Math.floor(rest * 0.62) };
  const lower: Box = { x: LEFT, y: upper.y + upper.h + GAP, w, h: Math.floor(rest * 0.38) };
  const lanes: Box = { x: LEFT, y: lower.y + lower.h + 6, w, h: runs.length * LANE };
  const scenes = runs.map(({ data, track }): Scene => {
    const from = data.detail.row.start_s;
    return { s, palette, data, track: track(w), ...timeAxis(from, from + longest, upper), axis: SAME, beside: null, words };
  });
  const axis: Scene = { ...scenes[0], ...timeAxis(0, longest, upper) };
  const acked = Math.max(1, ...scenes.map((scene) => scene.track?.acked.range(0, scene.track.acked.length)?.[1] ?? 0));
  const bytes = linear(0, acked * 1.03, upper.y + upper.h, upper.y);
  const curves = scenes.map((scene) => ackedRates(scene));
  const fastest = Math.max(1, ...curves.flatMap((curve) => curve.values));
  const speed = linear(0, fastest * 1.08, lower.y + lower.h, lower.y);
  timeGrid(axis, { ...upper, h: lanes.y + lanes.h - upper.y }, [upper, lower], "time since the flow’s first packet (s)");
  valueAxis(axis, "bytes", bytes, upper);
  valueAxis(axis, "bps", speed, lower);
  s.text(LEFT, lower.y - 8, "acknowledged per second", { colour: palette.soft, size: 10.5 });
  scenes.forEach((scene, k) => {
    if (scene.track !== null) steps(scene, scene.track.acked, bytes, upper, colours[k]);
    const { start, step, values } = curves[k];
    const flat = values.flatMap((value, i) => [
      scene.x(start + i * step),
      speed(value),
      scene.x(start + (i + 1) * step),
      speed(value),
    ]);
    s.clip(lower.x, lower.y, lower.w, lower.h, () => s.polyline(flat, colours[k], 1.2));
    lane(scene, { ...lanes, y: lanes.y + k * LANE, h: LANE - 2 }, colours[k]);
  });
}

/** Returns where it ends. */
function legend(s: Surface, palette: Palette, runs: readonly Run[], colours: readonly string[]): number {
  const entries = [...runs.map(({ label }) => label), "acknowledged bytes; strips: episodes"];
  const wides = entries.map((words) => s.textWidth(words) + 46);
  // On narrow screens each has a line of its own, from the edge on.
  const fits = LEFT + wides.reduce((sum, wide) => sum + wide, 0) <= s.width;
  let x = fits ? LEFT : 8;
  entries.forEach((words, k) => {
    const y = 10 + (fits ? 0 : k * LEGEND);
    if (k < runs.length) s.line(x, y, x + 16, y, colours[k], 3);
    s.text(k < runs.length ? x + 22 : x, y, words, k < runs.length ? { colour: palette.ink } : { colour: palette.soft, size: 10.5 });
    if (fits) x += wides[k];
  });
  return 4 + LEGEND * (fits ? 1 : entries.length);
}

/** When a run was in an episode. */
function lane(scene: Scene, box: Box, colour: string): void {
  const { s, palette, data } = scene;
  s.rect(box.x, box.y, box.w, box.h, palette.grid);
  for (const e of data.detail.episodes) {
    const left = scene.x(e.start_ns / 1e9);
    const right = scene.x(episodeEnd(e.end_ns, data.to));
    s.rect(left, box.y, Math.max(1.5, right - left), box.h, colour);
  }
}
