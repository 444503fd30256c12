/** What lies behind every panel: episodes, numbered as on rexmit's pages, and outages. */

import type { Outages } from "../data/meta";
import { seconds } from "../draw/units";
import type { Box, Scene } from "./scene";

/** Pixels that a number takes, and how many there are at most. */
const NUMBER_GAP = 28;
const MOST_NUMBERS = 14;

/** The end of an episode that has none is the end of what is shown. */
export function episodeEnd(end_ns: number | null, until: number): number {
  return end_ns === null ? until : end_ns / 1e9;
}

export function episodes(scene: Scene, box: Box): void {
  const { s, palette } = scene;
  const flat: [number[], number[]] = [[], []];
  for (const e of scene.data.detail.episodes) {
    const from = e.start_ns / 1e9;
    const to = episodeEnd(e.end_ns, scene.data.to);
    if (to < scene.from || from > scene.to) continue;
    const left = scene.x(Math.max(from, scene.from));
    // A hair's breadth at least, or a short one vanishes on a long axis.
    flat[e.number % 2].push(left, box.y, Math.max(1.5, scene.x(Math.min(to, scene.to)) - left), box.h);
  }
  s.rects(flat[0], palette.episode[0]);
  s.rects(flat[1], palette.episode[1]);
}

/** Numbers above the panels; where they would overlap the costlier episode keeps its own. */
export function episodeNumbers(scene: Scene, y: number, chosen: number | null): { number: number; x: number }[] {
  const seen = scene.data.detail.episodes
    .map((e) => ({
      number: e.number,
      from: Math.max(e.start_ns / 1e9, scene.from),
      to: Math.min(episodeEnd(e.end_ns, scene.data.to), scene.to),
      weight: e.cost_s ?? 0,
    }))
    .filter((e) => e.to >= e.from)
    .sort((a, b) => Number(b.number === chosen) - Number(a.number === chosen) || b.weight - a.weight);
  const placed: { number: number; x: number }[] = [];
  for (const e of seen) {
    if (placed.length === MOST_NUMBERS) break;
    const x = scene.x((e.from + e.to) / 2);
    if (placed.some((p) => Math.abs(p.x - x) < NUMBER_GAP)) continue;
    placed.push({ number: e.number, x });
    scene.s.text(x, y, `(${e.number + 1})`, {
      colour: e.number === chosen ? scene.palette.select : scene.palette.episodeText,
      align: "center",
      bold: e.number === chosen,
      size: 10.5,
    });
  }
  return placed;
}

/** Hatched from when an outage had begun for sure until when it was not over for sure, pale where either is
 * not known more closely; where nothing is sure it stands where the page has it. */
export function outages(scene: Scene, box: Box): void {
  const { s, palette } = scene;
  const found = scene.data.detail.outages;
  if (!found) return;
  for (const { sure, doubt } of outageSpans(found, scene.data.to)) {
    const clipped = ([from, to]: [number, number]): [number, number] | null => {
      const left = scene.x(Math.max(from, scene.from));
      const right = scene.x(Math.min(to, scene.to));
      return to < scene.from || from > scene.to ? null : [left, Math.max(1.5, right - left)];
    };
    const pale = clipped(doubt);
    const dark = clipped(sure);
    if (pale !== null) s.rect(pale[0], box.y, pale[1], box.h, palette.outageDoubt);
    if (dark !== null) s.hatch(dark[0], box.y, dark[1], box.h, palette.outage);
  }
}

export interface OutageSpan {
  sure: [number, number];
  doubt: [number, number];
}

export function outageSpans(found: Outages, until: number): OutageSpan[] {
  return found.each.map((each, k) => {
    const doubt: [number, number] = [each.begin_earliest_s, each.end_latest_s ?? until];
    const sure: [number, number] = [each.begin_latest_s, each.end_earliest_s ?? until];
    if (sure[0] < sure[1]) return { sure, doubt };
    const start = found.starts_s[k] ?? doubt[0];
    const told: [number, number] = [start, start + (found.length_s ?? 0)];
    return { sure: told, doubt: told };
  });
}

export function outageWords(found: Outages): string {
  return found.period_s ? `outage, every ${seconds(found.period_s)}` : "outage";
}
