/** Panels one below the other over one time axis, with everything around them: what a screen shows and what an
 * export writes. */

import type { FlowData } from "../data/flow";
import type { Track } from "../data/track";
import type { Palette } from "../draw/palette";
import { linear, type Scale } from "../draw/scale";
import type { Surface } from "../draw/surface";
import { timeGrid, valueAxis } from "./axes";
import { episodeNumbers, episodes, outages } from "./bands";
import { flight } from "./flight";
import { lanes } from "./lanes";
import { drawLegend } from "./legend";
import { rates } from "./rates";
import { rtt } from "./rtt";
import { type Box, type Panel, type Range, type Scene, timeAxis } from "./scene";
import { sequence } from "./sequence";
import { idle } from "./idle";

export const PANELS: Panel[] = [sequence, lanes, rates, rtt, flight, idle];

const AXIS = 30;
const NUMBERS = 16;
const GAP = 6;
/** The line above a panel that says what it shows. */
const TITLE = 15;
const RIGHT = 10;

export interface Wish {
  from: number;
  to: number;
  /** A range of the first panel that a box zoom asked for. */
  low: number | null;
  high: number | null;
  episode: number | null;
  panels: readonly Panel[];
  /** What to draw, in so many columns of pixels. */
  track: (columns: number) => Track | null;
  legend: boolean;
  words: (set: string, name: string) => string;
}

export interface Placed {
  panel: Panel;
  box: Box;
  y: Scale;
}

export interface Drawn {
  scene: Scene;
  plot: Box;
  placed: Placed[];
  numbers: { number: number; x: number }[];
}

export function drawStack(s: Surface, palette: Palette, data: FlowData, wish: Wish): Drawn {
  const left = s.width < 560 ? 58 : 74;
  const plotWidth = Math.max(10, s.width - left - RIGHT);
  const columns = Math.max(1, Math.floor(plotWidth));
  const plot: Box = { x: left, y: 0, w: columns, h: s.height };
  const scene: Scene = {
    s,
    palette,
    data,
    track: wish.track(columns),
    ...timeAxis(wish.from, wish.to, plot),
    words: wish.words,
  };
  s.rect(0, 0, s.width, s.height, palette.background);
  const top = (wish.legend ? drawLegend(scene, left, 4) : 0) + NUMBERS;
  const shown = wish.panels.filter((panel) => panel.wanted(scene));
  const boxes = arrange(shown, scene, { x: left, y: top, w: columns, h: s.height - top - AXIS });
  const placed = shown.map((panel, k): Placed => {
    const box = boxes[k];
    const range = rangeOf(panel, scene, k === 0 ? wish : null) ?? { low: 0, high: 1 };
    return { panel, box, y: linear(range.low, range.high, box.y + box.h, box.y) };
  });
  plot.y = top;
  plot.h = placed.length > 0 ? boxes[boxes.length - 1].y + boxes[boxes.length - 1].h - top : 0;
  for (const { panel, box } of placed) {
    if (panel.fixed !== undefined) continue;
    episodes(scene, box);
    outages(scene, box);
  }
  const open = placed.filter(({ panel }) => panel.fixed === undefined).map(({ box }) => box);
  timeGrid(scene, plot, open, data.source.run === null ? "time since the first packet (s)" : "time since the start of the run (s)");
  for (const [k, { panel, box, y }] of placed.entries()) {
    if (panel.fixed === undefined) valueAxis(scene, panel.unit ?? "bytes", y, box);
    s.clip(box.x - (panel.fixed === undefined ? 0 : left), box.y, box.w + (panel.fixed === undefined ? 0 : left), box.h, () =>
      panel.draw(scene, y, box),
    );
    const title = panel.title(scene);
    if (title !== "" && k > 0) label(scene, title, box);
  }
  return { scene, plot, placed, numbers: episodeNumbers(scene, top - NUMBERS / 2, wish.episode) };
}

function rangeOf(panel: Panel, scene: Scene, asked: Wish | null): Range | null {
  if (asked !== null && asked.low !== null && asked.high !== null) return { low: asked.low, high: asked.high };
  return panel.range(scene);
}

function arrange(shown: readonly Panel[], scene: Scene, room: Box): Box[] {
  const fixed = shown.map((panel) => panel.fixed?.(scene) ?? 0);
  const weights = shown.reduce((sum, panel) => sum + panel.weight, 0);
  const titles = shown.map((panel, k) => (panel.fixed === undefined && k > 0 ? TITLE : 0));
  const sum = (parts: number[]): number => parts.reduce((a, b) => a + b, 0);
  const rest = room.h - sum(fixed) - sum(titles) - GAP * Math.max(0, shown.length - 1);
  let y = room.y;
  return shown.map((panel, k) => {
    const h = panel.fixed === undefined ? Math.max(20, Math.floor((rest * panel.weight) / weights)) : fixed[k];
    y += titles[k];
    const box = { x: room.x, y, w: room.w, h };
    y += h + GAP;
    return box;
  });
}

/** The first panel has the numbers of the episodes above it, and says in its legend what it shows. */
function label(scene: Scene, title: string, box: Box): void {
  scene.s.text(box.x, box.y - 7, title, { colour: scene.palette.soft, size: 10.5 });
}
