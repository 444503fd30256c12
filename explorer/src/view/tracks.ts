/** Fetches what a view needs and the page does not have yet: finer levels of the pyramid, windows of packets. */

import { signal } from "@preact/signals";
import { Bins } from "../data/bins";
import type { Container } from "../data/container";
import { type FlowData, rttsOf } from "../data/flow";
import { NS, Packets } from "../data/packets";
import type { Store } from "../data/store";
import { bestOf, covers, type Track } from "../data/track";
import { episodeEnd } from "../panels/bands";

/** Counts up when something came in. */
export const arrived = signal(0);
export const waiting = signal(0);

/** While one zooms, nothing is asked for; ms. */
const PATIENCE = 140;
/** Windows of packets that are kept of a flow. */
const MOST_WINDOWS = 24;
const asked = new WeakMap<FlowData, Set<string>>();
const timers = new WeakMap<FlowData, number>();

/** What is here already for a view; what is not is asked for. */
export function trackFor(
  store: Store,
  data: FlowData,
  from: number,
  to: number,
  columns: number,
  fail: (error: unknown) => void,
): Track | null {
  const perPixel = (to - from) / columns;
  // Nothing happens outside of the flow.
  const [low, high] = [Math.max(from, data.from), Math.min(to, data.to)];
  const best = bestOf(data.tracks, low, high, perPixel);
  const good = best !== null && covers(best, low, high) && best.grain <= perPixel / 3;
  if (!good) {
    clearTimeout(timers.get(data));
    const wish = (): void => ask(store, data, low, high, columns, best, fail);
    // The first picture does not wait.
    if (best === null) wish();
    else timers.set(data, setTimeout(wish, PATIENCE));
  }
  return best;
}

function ask(
  store: Store,
  data: FlowData,
  from: number,
  to: number,
  columns: number,
  best: Track | null,
  fail: (error: unknown) => void,
): void {
  const perPixel = (to - from) / columns;
  const { packets, bins } = data.detail;
  for (const name of packets.held === "windows" ? packets.blobs : []) {
    if (worthIt(data, name, from, to)) once(data, name, () => store.blob(name), fail);
  }
  // The coarsest level that is fine enough; else the finest.
  const level = bins.findLast((l) => l.bin_ns / NS <= perPixel) ?? bins[0];
  if (level !== undefined && (best === null || best.grain === 0 || level.bin_ns / NS < best.grain)) {
    once(data, level.blob, () => store.blob(level.blob), fail);
  }
  const enough = level !== undefined && level.bin_ns / NS <= perPixel / 3;
  if (store.window === undefined || enough || packets.held === "all") return;
  const window = store.window;
  // A screen more on either side: one may drag a little before anything has to come.
  const margin = to - from;
  const [low, high] = [Math.max(data.from, from - margin) * NS, Math.min(data.to, to + margin) * NS];
  const name = `${Math.floor(low)}-${Math.ceil(high)}-${columns}`;
  once(data, name, () => window(data.source.id, data.detail.flow, low, high, columns * 3), fail, (track) =>
    track.raw === null ? Promise.resolve() : withRtt(store, data, track.raw),
  );
}

/** Packets with their round trips, where these are too many for the page to have them all; where a stretch has too
 * many as well, those of bins stay. */
async function withRtt(store: Store, data: FlowData, packets: Packets): Promise<void> {
  if (data.detail.rtt !== null || store.rtt === undefined) return;
  try {
    const found = rttsOf(await store.rtt(data.source.id, data.detail.flow, packets.from * NS, packets.to * NS));
    packets.rtt = (found.find(({ kind }) => kind === "ack") ?? found[0])?.series ?? null;
  } catch {
    packets.rtt = null;
  }
}

/** Packets of an episode are shown where it fills a good part of the view. The blob has its number at the end. */
function worthIt(data: FlowData, name: string, from: number, to: number): boolean {
  const number = Number(name.slice(name.lastIndexOf("/") + 1));
  const episode = data.detail.episodes.find((e) => e.number === number);
  if (episode === undefined) return false;
  const [start, end] = [episode.start_ns / NS, episodeEnd(episode.end_ns, data.to)];
  return start < to && end > from && to - from < 4 * (end - start);
}

function once(
  data: FlowData,
  name: string,
  read: () => Promise<Container>,
  fail: (error: unknown) => void,
  complete?: (track: Track) => Promise<void>,
): void {
  const known = asked.get(data) ?? new Set<string>();
  asked.set(data, known);
  if (known.has(name)) return;
  known.add(name);
  waiting.value++;
  read()
    .then(async (container) => {
      const track = container.header.kind === "packets" ? new Packets(container) : new Bins(container);
      await complete?.(track);
      kept<Track>(data, track);
      arrived.value++;
    })
    .catch((error: unknown) => {
      known.delete(name);
      fail(error);
    })
    .finally(() => waiting.value--);
}

/** The same, with the flow's others; of many windows the oldest goes. */
export function kept<T extends Track>(data: FlowData, track: T): T {
  data.tracks.push(track);
  if (data.tracks.length > MOST_WINDOWS) forget(data);
  return track;
}

/** The oldest window goes; what covers the whole flow stays. */
function forget(data: FlowData): void {
  const oldest = data.tracks.findIndex((track) => !covers(track, data.from, data.to));
  if (oldest >= 0) data.tracks.splice(oldest, 1);
  asked.delete(data);
}
