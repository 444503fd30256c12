import { describe, expect, it } from "vitest";
import type { Meta } from "../src/data/meta";
import { fromShown, toShown } from "../src/data/clock";
import { otherOf } from "../src/view/pair";

const source = (id: number, flows: [number, string, string][], more: object = {}): object => ({
  id,
  label: `capture ${id}`,
  flows: { columns: { flow: flows.map((f) => f[0]), sender: flows.map((f) => f[1]), receiver: flows.map((f) => f[2]) } },
  details: [],
  ...more,
});

describe("the other side", () => {
  it("is the same flow in the receiver's capture, on the sender's clock", () => {
    const meta = {
      comparison: null,
      sources: [
        source(0, [[2, "a:1", "b:2"]]),
        source(1, [[0, "b:2", "a:1"], [4, "a:1", "b:2"]], { clock: { rate: 1, shift_ns: -2e9 } }),
      ],
    } as unknown as Meta;
    expect(otherOf(meta, 0, 2)).toEqual({ source: 1, flow: 4, label: "capture 1", clock: { rate: 1, shift: -2 } });
    expect(otherOf(meta, 1, 4)).toEqual({ source: 0, flow: 2, label: "capture 0", clock: { rate: 1, shift: 2 } });
    expect(otherOf(meta, 1, 0)).toBeNull();
  });

  it("lines up at both ends of a transfer whose clocks drift, whichever side is shown", () => {
    // 50 ppm over 1,000 s: 50 ms, which a constant would be wrong by at one end.
    const clock = { rate: 1 / (1 + 50e-6), shift_ns: -2e9 };
    const meta = {
      comparison: null,
      sources: [source(0, [[0, "a:1", "b:2"]]), source(1, [[0, "a:1", "b:2"]], { clock })],
    } as unknown as Meta;
    const [receivers, senders] = [otherOf(meta, 0, 0)!.clock, otherOf(meta, 1, 0)!.clock];
    for (const sent of [0, 1000]) {
      const seen = (sent + 2) * (1 + 50e-6);
      expect(toShown(receivers, seen)).toBeCloseTo(sent, 9);
      expect(fromShown(receivers, sent)).toBeCloseTo(seen, 9);
      expect(toShown(senders, sent)).toBeCloseTo(seen, 9);
      expect(fromShown(senders, seen)).toBeCloseTo(sent, 9);
    }
  });

  it("is the other run of a comparison, from its first packet on", () => {
    const detail = (flow: number, start_s: number): object => ({ flow, row: { start_s } });
    const meta = {
      comparison: { labels: ["one", "two"], flows: [{ source: 0, flow: 0 }, { source: 1, flow: 6 }] },
      sources: [source(0, [], { details: [detail(0, 1)] }), source(1, [], { details: [detail(6, 3.5)] })],
    } as unknown as Meta;
    expect(otherOf(meta, 0, 0)).toEqual({ source: 1, flow: 6, label: "two", clock: { rate: 1, shift: -2.5 } });
    expect(otherOf(meta, 0, 1)).toBeNull();
  });

  it("is none where the clocks are not known against each other", () => {
    const meta = {
      comparison: null,
      sources: [source(0, [[0, "a:1", "b:2"]]), source(1, [[0, "a:1", "b:2"]], { clock: null })],
    } as unknown as Meta;
    expect(otherOf(meta, 0, 0)).toBeNull();
  });
});
