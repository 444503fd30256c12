/** Sequence number against time: the picture in which a loss and its repair are seen at a glance. */

import type { Packets } from "../data/packets";
import type { Series } from "../data/series";
import { edgeOf, hueOf, markerOf } from "../draw/palette";
import type { Scale } from "../draw/scale";
import type { Marker } from "../draw/surface";
import { bars, type Box, columnsIn, type Panel, type Range, type Scene, steps, valueAt, within } from "./scene";

/** Up to this many in view each segment has its own bar. */
const SINGLE = 3000;
/** Markers nearer than this are one, pixels. */
const CELL = 4;

export const sequence: Panel = {
  key: "sequence",
  title: () => "sequence number",
  weight: 5,
  unit: "bytes",
  wanted: () => true,
  range,
  draw(scene, y, box) {
    const track = scene.track;
    if (track === null) return;
    const { palette } = scene;
    steps(scene, track.edge, y, box, palette.edge);
    blocks(scene, track.sacked, y, box, palette.sack, 2.4);
    steps(scene, track.acked, y, box, palette.ack);
    blocks(scene, track.fresh, y, box, palette.ink, 1.4);
    if (scene.data.detail.row.vantage === "receiver") holes(scene, y, box);
    for (const [cause, series] of track.again) {
      marks(scene, series, y, box, markerOf(cause), hueOf(palette, "cause", cause), edgeOf(palette, cause));
    }
    marks(scene, track.gone, y, box, "cross", palette.lost, palette.lost);
    marks(scene, track.inVain, y, box, "ring", palette.ink, palette.ink);
  },
};

/** What is sent, acknowledged and reported in view; the window's edge only where it is near. */
function range(scene: Scene): Range | null {
  const track = scene.track;
  if (track === null) return null;
  let low = Infinity;
  let high = -Infinity;
  const take = (values: readonly [number, number] | null): void => {
    if (values === null) return;
    low = Math.min(low, values[0]);
    high = Math.max(high, values[1]);
  };
  const drawn = [track.fresh, track.acked, track.sacked, track.gone, ...track.again.values()];
  for (const series of drawn) take(series.range(...within(scene, series)));
  if (low === Infinity) {
    const at = valueAt(track.acked, scene.from);
    if (at === null) return null;
    [low, high] = [at, at];
  }
  const edge = track.edge.range(...within(scene, track.edge));
  if (edge !== null && edge[1] <= high + 0.5 * (high - low)) take(edge);
  const margin = Math.max((high - low) * 0.04, 1);
  return { low: low - margin, high: high + margin };
}

/** Each segment or SACK block as a bar of its own height, or what each column of pixels holds of them. */
function blocks(scene: Scene, series: Series, y: Scale, box: Box, colour: string, width: number): void {
  const [a, z] = within(scene, series);
  if (z - a > SINGLE) {
    bars(scene, series, y, box, colour);
    return;
  }
  const flat: number[] = [];
  for (let i = a; i < z; i++) {
    const top = y(series.hi[i]);
    flat.push(scene.x(series.x[i]) - width / 2, top, width, Math.max(1, y(series.lo[i]) - top));
  }
  scene.s.rects(flat, colour);
}

/** Where a receiver noticed that something was missing: there a lost copy was never seen. */
function holes(scene: Scene, y: Scale, box: Box): void {
  const flat: number[] = [];
  for (const burst of scene.data.detail.bursts) {
    const at = burst.start_ns / 1e9;
    if (at < scene.from || at > scene.to) continue;
    const top = y(burst.seq_end);
    flat.push(scene.x(at) - 1, top, 2, Math.max(2, y(burst.seq_start) - top));
  }
  if (box.h > 0) scene.s.rects(flat, scene.palette.lost);
}

function marks(
  scene: Scene,
  series: Series,
  y: Scale,
  box: Box,
  shape: Marker,
  fill: string,
  edge: string,
): void {
  const [a, z] = within(scene, series);
  if (a === z) return;
  const flat = z - a > 20_000 ? ofColumns(scene, series, y, box) : thinned(scene, series, y, box, a, z);
  const crowded = flat.length > 400;
  const radius = shape === "ring" ? (crowded ? 4.5 : 6) : shape === "cross" ? (crowded ? 2.5 : 3.5) : crowded ? 2.4 : 3.4;
  scene.s.markers(shape, flat, radius, fill, crowded ? null : edge);
}

function thinned(scene: Scene, series: Series, y: Scale, box: Box, a: number, z: number): number[] {
  const across = Math.ceil(box.w / CELL) + 1;
  const taken = new Uint8Array(across * (Math.ceil(box.h / CELL) + 1));
  const flat: number[] = [];
  for (let i = a; i < z; i++) {
    const px = scene.x(series.x[i]);
    const py = y((series.lo[i] + series.hi[i]) / 2);
    const cell = Math.floor((px - box.x) / CELL) + across * Math.floor((py - box.y) / CELL);
    if (taken[cell] !== 0) continue;
    taken[cell] = 1;
    flat.push(px, py);
  }
  return flat;
}

/** Of very many the lowest and the highest of each column. */
function ofColumns(scene: Scene, series: Series, y: Scale, box: Box): number[] {
  const { count, lo, hi } = columnsIn(scene, series);
  const flat: number[] = [];
  for (let c = 0; c < scene.columns; c += CELL) {
    if (count[c] === 0) continue;
    flat.push(box.x + c, y(lo[c]));
    if (y(lo[c]) - y(hi[c]) > CELL) flat.push(box.x + c, y(hi[c]));
  }
  return flat;
}

/** The packet drawn nearest to a point, within `reach` pixels; -1 if there is none. */
export function nearest(
  scene: Scene,
  packets: Packets,
  y: Scale,
  px: number,
  py: number,
  reach: number,
): number {
  const a = packets.firstAt(scene.x.back(px - reach));
  const z = packets.firstAt(scene.x.back(px + reach));
  let found = -1;
  let best = reach * reach;
  for (let i = a; i < z; i++) {
    const dx = scene.x(packets.time[i]) - px;
    let dy: number;
    if (packets.data[i] === 1) {
      const bottom = y(packets.seq[i]);
      const top = y(packets.seq[i] + packets.len[i]);
      dy = py > bottom ? py - bottom : py < top ? top - py : 0;
    } else {
      dy = y(packets.ack[i]) - py;
      for (const block of packets.blocks(i)) {
        if (py <= y(block.start) && py >= y(block.end)) dy = 2;
      }
    }
    // Of those that are as near, what was sent again is what one looks for.
    const distance = dx * dx + dy * dy - (packets.cause[i] > 0 ? 4 : 0);
    if (distance < best) {
      best = distance;
      found = i;
    }
  }
  return found;
}
