/** What marks and colours mean: only what is there. */

import { edgeOf, hueOf, markerOf } from "../draw/palette";
import type { Marker, Surface } from "../draw/surface";
import { outageWords } from "./bands";
import type { Scene } from "./scene";
import { pathColour, programColour } from "./turns";

interface Entry {
  words: string;
  draw: (s: Surface, x: number, y: number) => void;
}

const LINE = 16;

/** Returns where it ends. */
export function drawLegend(scene: Scene, left: number, top: number): number {
  const { s, palette } = scene;
  const placed = arranged(scene, left, top);
  for (const { entry, x, y } of placed) {
    entry.draw(s, x + 7, y);
    s.text(x + 18, y, entry.words, { colour: palette.soft, size: 10.5 });
  }
  return endOf(placed, top);
}

/** Where it would end. */
export function legendEnd(scene: Scene, left: number, top: number): number {
  return endOf(arranged(scene, left, top), top);
}

interface PlacedEntry {
  entry: Entry;
  x: number;
  y: number;
}

function endOf(placed: readonly PlacedEntry[], top: number): number {
  return (placed[placed.length - 1]?.y ?? top + LINE / 2) + LINE / 2;
}

function arranged(scene: Scene, left: number, top: number): PlacedEntry[] {
  const { s } = scene;
  let x = left;
  let y = top + LINE / 2;
  return entries(scene).map((entry) => {
    const wide = 18 + s.textWidth(entry.words, 10.5) + 14;
    if (x + wide > s.width && x > left) {
      x = left;
      y += LINE;
    }
    const placed = { entry, x, y };
    x += wide;
    return placed;
  });
}

function entries(scene: Scene): Entry[] {
  const { palette, data, track } = scene;
  const found: Entry[] = [];
  const line = (words: string, colour: string, width = 2): void => {
    found.push({ words, draw: (s, x, y) => s.line(x - 6, y, x + 6, y, colour, width) });
  };
  const mark = (words: string, shape: Marker, colour: string, edge: string | null): void => {
    found.push({ words, draw: (s, x, y) => s.markers(shape, [x, y], shape === "ring" ? 5 : 3.6, colour, edge) });
  };
  if (track !== null) {
    found.push({ words: "data", draw: (s, x, y) => s.rect(x - 1, y - 5, 2, 10, palette.ink) });
    line("ACK", palette.ack);
    if (track.edge.length > 0) line("window", palette.edge);
    if (track.sacked.length > 0) {
      found.push({ words: "SACK", draw: (s, x, y) => s.rect(x - 2, y - 5, 4, 10, palette.sack) });
    }
    if (track.gone.length > 0) mark("lost", "cross", palette.lost, palette.lost);
    for (const cause of track.again.keys()) {
      mark(`again: ${scene.words("cause", cause)}`, markerOf(cause), hueOf(palette, "cause", cause), edgeOf(palette, cause));
    }
    if (track.inVain.length > 0) mark("needless", "ring", palette.ink, palette.ink);
  }
  if (data.state?.cwnd) line("cwnd", palette.blue);
  if (data.state?.ssthresh) line("ssthresh", palette.hues.purple);
  if (data.detail.episodes.length > 0) {
    found.push({ words: "episode", draw: (s, x, y) => s.rect(x - 6, y - 5, 12, 10, palette.episode[1]) });
  }
  if (data.turns.length > 0) {
    const block = (words: string, colour: string): void => {
      found.push({ words, draw: (s, x, y) => s.rect(x - 6, y - 4, 12, 8, colour) });
    };
    block("message", palette.ink);
    block("its program", programColour(palette));
    block("under way", pathColour(palette));
  }
  const dark = data.detail.outages;
  if (dark) {
    found.push({ words: outageWords(dark), draw: (s, x, y) => s.hatch(x - 6, y - 5, 12, 10, palette.outage) });
  }
  return found;
}
