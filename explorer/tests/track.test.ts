import { describe, expect, it } from "vitest";
import { Bins } from "../src/data/bins";
import type { Column, Container } from "../src/data/container";
import { columnsOf } from "../src/data/series";
import { bestOf, type Track } from "../src/data/track";
import { packetsOf } from "./packets";

const track = (from: number, to: number, grain: number): Track => ({ from, to, grain }) as Track;

describe("the best of tracks", () => {
  const [coarse, fine, part] = [track(0, 100, 1), track(0, 100, 0.01), track(40, 50, 0)];

  it("is packets where these cover the view", () => {
    expect(bestOf([coarse, fine, part], 42, 44, 0.002)).toBe(part);
  });

  it("is the finest bins where packets cover a small part of it", () => {
    expect(bestOf([coarse, part, fine], 0, 100, 0.1)).toBe(fine);
  });

  it("is packets of half the view where bins are far too coarse", () => {
    expect(bestOf([coarse, fine, part], 39, 50.5, 0.01)).toBe(fine);
    expect(bestOf([coarse, part], 39, 50.5, 0.01)).toBe(part);
  });

  it("takes an end that is rounded for what it is", () => {
    const whole = track(1e-7, 100 - 1e-7, 0.1);
    expect(bestOf([whole, part], 0, 100, 1)).toBe(whole);
  });

  it("is none of none", () => expect(bestOf([], 0, 1, 0.1)).toBeNull());
});

describe("bins", () => {
  const columns = new Map<string, Column>([
    ["bin", new Uint32Array([0, 3, 4])],
    ["bytes", new Float64Array([1000, 500, 0])],
    ["seq_min", new Int32Array([1, 1001, -1])],
    ["seq_max", new Int32Array([1001, 1501, -1])],
    ["ack_max", new Int32Array([-1, 501, 1501])],
    ["lost", new Uint32Array([0, 2, 0])],
    ["lost_min", new Int32Array([-1, 1001, -1])],
    ["lost_max", new Int32Array([-1, 1301, -1])],
    ["again_of_a_new_cause", new Uint32Array([0, 3, 0])],
    ["again_min", new Int32Array([-1, 1, -1])],
    ["again_max", new Int32Array([-1, 201, -1])],
  ]);
  const bins = new Bins({
    header: { kind: "bins", rows: 3, columns: [], causes: ["recovery", "of-a-new-cause"], start_ns: 2e9, bin_ns: 1e8, bins: 5 },
    columns,
  } as Container);

  it("stand for as many as they count", () => {
    expect(columnsOf(bins.gone, 4, 0.5, 1).count[0]).toBe(2);
    expect(columnsOf(bins.again.get("of-a-new-cause")!, 4, 0.5, 1).count[0]).toBe(3);
    expect(bins.again.has("recovery")).toBe(false);
  });

  it("leave out what a bin says nothing of", () => {
    expect([...bins.fresh.hi]).toEqual([1001, 1501]);
    expect([...bins.acked.hi]).toEqual([501, 1501]);
    expect(bins.edge.length).toBe(0);
    expect(bins.rtt).toBeNull();
  });

  it("cover their time, and sum up bytes", () => {
    expect([bins.from, bins.to, bins.grain]).toEqual([2, 2.5, 0.1]);
    expect([bins.sentBytes.before(2.2), bins.sentBytes.before(2.5)]).toEqual([1000, 1500]);
    expect(bins.freshBytes.before(2.5)).toBe(1500);
  });
});

describe("packets", () => {
  it("that are a whole flow cover any view", () => {
    const whole = packetsOf([{ at: 5, data: [0, 1] }]);
    expect([whole.from, whole.to]).toEqual([-Infinity, Infinity]);
  });
});
