import { describe, expect, it } from "vitest";
import { FlowData } from "../src/data/flow";
import type { Detail, Source } from "../src/data/meta";
import type { Store } from "../src/data/store";
import type { Column, Container } from "../src/data/container";
import { cut, MOST_ROWS, type Part, partFrom } from "../src/view/parts";
import { packetsOf, type Told } from "./packets";

/** n packets, `each` of them at the same instant, a millisecond apart. */
function story(n: number, each = 1): Told[] {
  return Array.from({ length: n }, (_, i) => ({ at: Math.floor(i / each), data: [i, i + 1] as [number, number] }));
}

function flowOf(held: Detail["packets"]["held"], blobs: string[] = []): FlowData {
  const row = { start_s: 0, end_s: 1e4 };
  return new FlowData({ id: 0 } as Source, { flow: 0, row, packets: { held, blobs } } as unknown as Detail, null, null, null);
}

/** Numbers of the packets that one comes through, part after part. */
async function read(store: Store, data: FlowData, from: number, to: number): Promise<{ seen: number[]; parts: number }> {
  const seen: number[] = [];
  let parts = 0;
  for (let at: number | null = from; at !== null; ) {
    const part: Part = (await partFrom(store, data, at, to))!;
    expect(part.rows[1] - part.rows[0]).toBeGreaterThan(0);
    for (let i = part.rows[0]; i < part.rows[1]; i++) seen.push(part.packets.packet[i]);
    at = part.next;
    parts++;
  }
  return { seen, parts };
}

describe("parts of very many packets", () => {
  it("give each packet once, whatever shares an instant", async () => {
    for (const each of [1, 3, 7, MOST_ROWS + 5]) {
      const data = flowOf("all");
      data.tracks.push(packetsOf(story(50_000, each)));
      const { seen, parts } = await read({} as Store, data, 0, 1e4);
      expect(seen).toEqual(Array.from({ length: 50_000 }, (_, i) => i + 1));
      expect(parts).toBe(3);
    }
  });

  it("are one where there are few", () => {
    const { rows, next } = cut(packetsOf(story(20)), 0.005, 0.01);
    expect(rows).toEqual([5, 11]);
    expect(next).toBeNull();
  });

  it("come from a server that gives packets only of narrow windows, and never all at once", async () => {
    const all = story(3000, 2);
    let most = 0;
    const window = async (_source: number, _flow: number, from: number, to: number): Promise<Container> => {
      const inside = all.filter(({ at }) => at * 1e6 >= from && at * 1e6 <= to);
      if (inside.length > 500) return { header: { kind: "bins", rows: 0, columns: [] }, columns: new Map() };
      most = Math.max(most, inside.length);
      const packets = packetsOf(inside);
      const first = all.indexOf(inside[0]);
      const told = new Map<string, Column>([["time_ns", Float64Array.from(inside, ({ at }) => at * 1e6)]]);
      told.set("packet", Float64Array.from(inside, (_, i) => first + i + 1));
      return { header: { kind: "packets", rows: packets.n, columns: [], from_ns: from, to_ns: to, complete: false }, columns: told };
    };
    const { seen, parts } = await read({ window } as unknown as Store, flowOf("none"), 0, 1.6);
    expect(seen).toEqual(all.map((_, i) => i + 1));
    expect(parts).toBeGreaterThan(6);
    expect(most).toBeLessThanOrEqual(500);
  });

  it("cannot be had of a report that holds no packets", async () => {
    expect(await partFrom({} as Store, flowOf("none"), 0, 1)).toBeNull();
  });
});
