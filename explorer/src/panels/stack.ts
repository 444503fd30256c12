/** Panels one below the other over one time axis, with everything around them: what a screen shows and what an
 * export writes. */

import { type Clock, SAME } from "../data/clock";
import type { FlowData } from "../data/flow";
import type { Track } from "../data/track";
import type { Palette } from "../draw/palette";
import { linear, type Scale } from "../draw/scale";
import type { Surface } from "../draw/surface";
import { timeGrid, valueAxis } from "./axes";
import { episodeNumbers, episodes, outages } from "./bands";
import { flight } from "./flight";
import { lanes } from "./lanes";
import { owner } from "./owner";
import { drawLegend, legendEnd } from "./legend";
import { path } from "./path";
import { rates } from "./rates";
import { rtt } from "./rtt";
import { type Box, type Panel, type Range, type Scene, timeAxis } from "./scene";
import { sequence } from "./sequence";
import { idle } from "./idle";
import { turns } from "./turns";

export const PANELS: Panel[] = [sequence, lanes, rates, path, rtt, flight, owner, turns, idle];

const AXIS = 30;
const NUMBERS = 16;
const GAP = 6;
/** The line above a panel that says what it shows. */
const TITLE = 15;
const RIGHT = 10;
/** Above the legend. */
const TOP = 4;

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
  axis: Axis;
  /** What stands beside it: both have the same panels at the same heights, over the same axes. */
  beside: { data: FlowData; wish: Pick<Wish, "from" | "to" | "track"> } | null;
}

/** What the time axis says: of an instant of the flow's own clock, and what that is, in words. */
export interface Axis {
  clock: Clock;
  words: string;
}

export function ownAxis(data: FlowData): Axis {
  return { clock: SAME, words: data.source.run === null ? "time since the first packet (s)" : "time since the start of the run (s)" };
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
    axis: wish.axis.clock,
    beside: null,
    words: wish.words,
  };
  const twin = wish.beside === null ? null : besideOf(scene, wish.beside, plot);
  scene.beside = twin;
  const scenes = twin === null ? [scene] : [scene, twin];
  s.rect(0, 0, s.width, s.height, palette.background);
  const legend = wish.legend ? Math.max(drawLegend(scene, left, TOP), twin === null ? 0 : legendEnd(twin, left, TOP)) : 0;
  const top = legend + NUMBERS;
  const shown = wish.panels.filter((panel) => scenes.some((one) => panel.wanted(one)));
  const boxes = arrange(shown, scene, { x: left, y: top, w: columns, h: s.height - top - AXIS });
  const placed = shown.map((panel, k): Placed => {
    const box = boxes[k];
    const range = rangeOf(panel, scenes, k === 0 ? wish : null) ?? { low: 0, high: 1 };
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
  timeGrid(scene, plot, open, wish.axis.words);
  for (const [k, { panel, box, y }] of placed.entries()) {
    if (panel.fixed === undefined) valueAxis(scene, panel.unit ?? "bytes", y, box);
    s.clip(box.x - (panel.fixed === undefined ? 0 : left), box.y, box.w + (panel.fixed === undefined ? 0 : left), box.h, () =>
      panel.draw(scene, y, box),
    );
    const title = panel.title(scene);
    if (title !== "" && k > 0) label(scene, title, box);
    if (!panel.wanted(scene) && panel.fixed === undefined) nothing(scene, box);
  }
  return { scene, plot, placed, numbers: episodeNumbers(scene, top - NUMBERS / 2, wish.episode) };
}

/** The scene of what stands beside one, as wide as it. */
function besideOf(scene: Scene, { data, wish }: NonNullable<Wish["beside"]>, plot: Box): Scene {
  return {
    ...scene,
    data,
    track: wish.track(scene.columns),
    ...timeAxis(wish.from, wish.to, plot),
    beside: { data: scene.data, track: scene.track },
  };
}

/** What all of them have room in. */
function rangeOf(panel: Panel, scenes: readonly Scene[], asked: Wish | null): Range | null {
  if (asked !== null && asked.low !== null && asked.high !== null) return { low: asked.low, high: asked.high };
  const found = scenes.map((scene) => panel.range(scene)).filter((range) => range !== null);
  if (found.length === 0) return null;
  return { low: Math.min(...found.map(({ low }) => low)), high: Math.max(...found.map(({ high }) => high)) };
}

/** A panel that only the other side has something for. */
function nothing({ s, palette }: Scene, box: Box): void {
  s.text(box.x + box.w / 2, box.y + box.h / 2, "nothing of it is told at this side", { colour: palette.soft, align: "center", size: 10.5 });
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
