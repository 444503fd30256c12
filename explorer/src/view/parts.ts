/** A stretch of time packet by packet, part after part: of very many packets a page never holds all. */

import type { FlowData } from "../data/flow";
import { NS, Packets } from "../data/packets";
import type { Store } from "../data/store";
import { kept } from "./tracks";

/** Packets of one part. */
export const MOST_ROWS = 20_000;
/** What no window of a server is narrower than, seconds. */
const NARROWEST = 1e-9;

export interface Part {
  packets: Packets;
  /** Its rows. */
  rows: [number, number];
  /** When the next part begins; null: it is the last. */
  next: number | null;
  /** Whether more came after it, which is not held here. */
  short?: boolean;
}

/** The packets from `from` on, as many as a part has; null if there is no way to have them. */
export async function partFrom(store: Store, data: FlowData, from: number, to: number): Promise<Part | null> {
  const here = data.packetsIn(from, to) ?? (await heldWindow(store, data, from, to));
  if (here !== null) {
    const part = cut(here, from, Math.min(to, here.to));
    return { ...part, short: part.next === null && here.to < to - NARROWEST };
  }
  return store.window === undefined ? null : served(store, data, from, to);
}

/** What lies in the report around one of its worst episodes; of a very long one the beginning. */
async function heldWindow(store: Store, data: FlowData, from: number, to: number): Promise<Packets | null> {
  const { packets } = data.detail;
  let best: Packets | null = null;
  for (const name of packets.held === "windows" ? packets.blobs : []) {
    const found = new Packets(await store.blob(name));
    if (found.from > from || found.to <= from) continue;
    if (best === null || found.to > best.to) best = found;
    if (found.to >= to) break;
  }
  return best === null ? null : kept(data, best);
}

/** A server gives packets where few enough lie in a window: it is halved until they do. */
async function served(store: Store, data: FlowData, from: number, to: number): Promise<Part | null> {
  for (let end = to; end - from > NARROWEST; end = from + (end - from) / 2) {
    const container = await store.window!(data.source.id, data.detail.flow, Math.floor(from * NS), Math.ceil(end * NS), 1);
    if (container.header.kind !== "packets") continue;
    // What lies at its end is the first of the next part.
    const part = cut(kept(data, new Packets(container)), from, end < to ? end - 2 * NARROWEST : to);
    return { ...part, next: part.next ?? (end < to ? end : null) };
  }
  return null;
}

/** Rows of the same instant stay together, so that a time says where the next part begins. */
export function cut(packets: Packets, from: number, to: number): Part {
  const a = packets.firstAt(from - NARROWEST);
  const z = packets.firstAt(to + NARROWEST);
  if (z - a <= MOST_ROWS) return { packets, rows: [a, z], next: null };
  const same = (row: number): boolean => packets.time[row] - packets.time[row - 1] <= 2 * NARROWEST;
  let end = a + MOST_ROWS;
  while (end > a + 1 && same(end)) end--;
  if (end === a + 1) for (end = a + MOST_ROWS; end < z && same(end); ) end++;
  return { packets, rows: [a, end], next: end < z ? packets.time[end] : null };
}
