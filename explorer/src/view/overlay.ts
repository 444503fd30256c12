/** What moves with the pointer, above the panels: cross-hairs, the box of a zoom, the selected packet and the
 * packets that prove it. */

import { proofOf } from "../data/proof";
import type { Surface } from "../draw/surface";
import { told } from "../panels/scene";
import type { Drawn } from "../panels/stack";
import { inWords } from "./app";
import type { Hover } from "./board";

export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Marked {
  hover: Hover | null;
  box: Rect | null;
  /** A stretch of time that is selected. */
  stretch: readonly [number, number] | null;
  /** The number of the selected packet, if it is of this flow. */
  packet: number | null;
  /** When the selected packet was seen, of this flow or of what stands beside it. */
  at: number | null;
}

export function drawOverlay(
  s: Surface,
  drawn: Drawn,
  { hover, box, stretch, packet: selected, at }: Marked,
): void {
  const { plot, scene } = drawn;
  const { palette } = scene;
  if (stretch !== null) drawStretch(s, drawn, stretch);
  const x = at === null ? null : scene.x(at);
  if (x !== null && x >= plot.x && x <= plot.x + plot.w) s.line(x, plot.y, x, plot.y + plot.h, palette.select);
  if (selected !== null) drawSelected(s, drawn, selected);
  if (hover !== null && hover.x >= plot.x && hover.x <= plot.x + plot.w) {
    s.line(hover.x, plot.y, hover.x, plot.y + plot.h, palette.faint, 1, [3, 3]);
    if (hover.row >= 0) ring(s, drawn, hover.row, palette.ink);
    const time = `${told(scene, scene.x.back(hover.x)).toFixed(Math.min(9, Math.max(3, Math.ceil(-Math.log10((scene.to - scene.from) / plot.w)))))} s`;
    const wide = s.textWidth(time) + 10;
    const left = Math.min(Math.max(hover.x - wide / 2, plot.x), plot.x + plot.w - wide);
    s.rect(left, plot.y + plot.h + 5, wide, 15, palette.ink);
    s.text(left + wide / 2, plot.y + plot.h + 12.5, time, { colour: palette.background, align: "center" });
  }
  if (box !== null) {
    s.rect(box.x, box.y, box.w, box.h, "rgba(86,180,233,0.18)");
    s.frame(box.x + 0.5, box.y + 0.5, box.w, box.h, palette.blue);
  }
}

function drawStretch(s: Surface, { scene, plot }: Drawn, [from, to]: readonly [number, number]): void {
  const { palette } = scene;
  const left = Math.max(plot.x, scene.x(from));
  const right = Math.min(plot.x + plot.w, scene.x(to));
  if (left > right) return;
  s.rect(left, plot.y, Math.max(1, right - left), plot.h, palette.selectBand);
  for (const [t, x] of [[from, left], [to, right]]) {
    if (t >= scene.from && t <= scene.to) s.line(x, plot.y, x, plot.y + plot.h, palette.select);
  }
}

function drawSelected(s: Surface, drawn: Drawn, selected: number): void {
  const { scene } = drawn;
  const packets = scene.track?.raw ?? null;
  const row = packets?.rowOf(selected) ?? -1;
  if (packets === null || row < 0) return;
  const { palette } = scene;
  const proof = proofOf(packets, row, (cause) => inWords("cause", cause));
  if (proof !== null) {
    const acks = proof.told.slice(-60);
    for (const i of [...proof.copies, ...acks, proof.needless]) if (i >= 0) ring(s, drawn, i, palette.blue, 5);
  }
  ring(s, drawn, row, palette.select);
}

function ring(s: Surface, drawn: Drawn, row: number, colour: string, radius = 7): void {
  const first = drawn.placed[0];
  const packets = drawn.scene.track?.raw ?? null;
  if (first?.panel.key !== "sequence" || packets === null) return;
  const value = packets.data[row] === 1 ? packets.seq[row] + packets.len[row] / 2 : packets.ack[row];
  const x = drawn.scene.x(packets.time[row]);
  const { box } = first;
  s.clip(box.x, box.y, box.w, box.h, () => s.markers("ring", [x, first.y(value)], radius, colour, colour));
}
