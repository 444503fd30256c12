/** Packets for tests, written as a story: times in ms, sequence numbers in segments of 100 bytes. */

import type { Column } from "../src/data/container";
import { Packets } from "../src/data/packets";

export interface Told {
  at: number;
  /** Segments [from, to) of data; or an ACK. */
  data?: [number, number];
  ack?: number;
  sack?: [number, number][];
  dsack?: boolean;
  cause?: string;
  lost?: boolean;
  needless?: boolean;
}

export const SEGMENT = 100;
const CAUSES = ["", "recovery", "timeout", "loss-state", "probe", "persist", "handshake", "unknown"];

export function packetsOf(story: Told[]): Packets {
  const column = (of: (told: Told, i: number) => number): Float64Array => Float64Array.from(story, of);
  const bytes = (segment: number): number => 1 + segment * SEGMENT;
  const columns = new Map<string, Column>([
    ["packet", column((_, i) => i + 1)],
    ["time_ns", column((t) => t.at * 1e6)],
    ["data", column((t) => (t.data ? 1 : 0))],
    ["flags", column(() => 0x10)],
    ["seq", column((t) => (t.data ? bytes(t.data[0]) : 0))],
    ["len", column((t) => (t.data ? (t.data[1] - t.data[0]) * SEGMENT : 0))],
    ["ack", column((t) => (t.ack === undefined ? (t.data ? 1 : -1) : bytes(t.ack)))],
    ["window", column(() => 1000)],
    ["dsack", column((t) => (t.dsack ? 1 : 0))],
    ["cause", column((t) => CAUSES.indexOf(t.cause ?? ""))],
    ["lost", column((t) => (t.lost ? 1 : 0))],
    ["needless", column((t) => (t.needless ? 1 : 0))],
  ]);
  for (const k of [1, 2, 3, 4]) {
    columns.set(`sack${k}_start`, column((t) => (t.sack?.[k - 1] ? bytes(t.sack[k - 1][0]) : 0)));
    columns.set(`sack${k}_end`, column((t) => (t.sack?.[k - 1] ? bytes(t.sack[k - 1][1]) : 0)));
  }
  return new Packets({ header: { kind: "packets", rows: story.length, columns: [], words: { cause: CAUSES } }, columns });
}

export const WORDS = (cause: string): string => cause;
