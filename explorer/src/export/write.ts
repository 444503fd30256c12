/** What is on the screen as files: PNG, SVG, CSV. */

import type { FlowData } from "../data/flow";
import type { Packets } from "../data/packets";
import { CanvasSurface } from "../draw/canvas";
import type { Palette } from "../draw/palette";
import type { Surface } from "../draw/surface";
import { SvgSurface } from "../draw/svg";

/** Pixels of a PNG for each of the screen: enough for print. */
const FINE = 2;

export interface Picture {
  width: number;
  height: number;
  draw: (s: Surface) => void;
}

export function pngOf(picture: Picture): Promise<Blob> {
  const canvas = document.createElement("canvas");
  picture.draw(new CanvasSurface(canvas, picture.width, picture.height, FINE));
  return new Promise((done, fail) => {
    canvas.toBlob((blob) => (blob === null ? fail(new Error("the picture is too large for a PNG")) : done(blob)));
  });
}

export function svgOf(picture: Picture, title: string, palette: Palette): string {
  const surface = new SvgSurface(picture.width, picture.height);
  picture.draw(surface);
  return surface.document(title, palette.background);
}

const COLUMNS = ["packet", "time_s", "direction", "flags", "seq", "len", "ack", "window_bytes", "sack", "dsack"];
export const CSV_HEAD = `${[...COLUMNS, "cause", "lost", "needless", "episode", "flight_bytes"].join(",")}\n`;

/** A line for each packet of rows [from, to). */
export function csvLines(packets: Packets, [from, to]: [number, number]): string {
  const known = (value: number): string => (value < 0 ? "" : String(value));
  let lines = "";
  for (let i = from; i < to; i++) {
    const cells = [
      packets.packet[i],
      packets.time[i].toFixed(9),
      packets.data[i] === 1 ? "data" : "ack",
      `0x${packets.flags[i].toString(16).padStart(3, "0")}`,
      packets.seq[i],
      packets.len[i],
      known(packets.ack[i]),
      known(packets.window[i]),
      packets
        .blocks(i)
        .map((b) => `${b.start}-${b.end}`)
        .join(" "),
      packets.dsack[i],
      packets.causes[packets.cause[i]] ?? "",
      packets.lost[i],
      packets.needless[i],
      packets.episode[i] === 0 ? "" : packets.episode[i],
      known(packets.flight[i]),
    ];
    lines += `${cells.join(",")}\n`;
  }
  return lines;
}

/** A picture as a file. */
export async function savePicture(picture: Picture, what: "png" | "svg", name: string, title: string, palette: Palette): Promise<void> {
  if (what === "svg") save(name, svgOf(picture, title, palette), "image/svg+xml");
  else save(name, await pngOf(picture), "image/png");
}

export function save(name: string, content: Blob | string | string[], type: string): void {
  const parts = Array.isArray(content) ? content : [content];
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob(parts, { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** What a name may hold that every system takes as a file's. */
export function nameOf(words: string): string {
  return words.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+/, "").slice(0, 60);
}

export function fileName(data: FlowData, what: string, ending: string): string {
  return `${nameOf(data.source.label) || "rexmit"}-flow-${data.detail.flow + 1}-${what}.${ending}`;
}
