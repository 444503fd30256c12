import { describe, expect, it } from "vitest";
import { decimals, linear, ticks, tickStep } from "../src/draw/scale";
import { grouped, percent, plainSeconds, rate, seconds, size, three } from "../src/draw/units";

describe("a scale", () => {
  it("goes there and back", () => {
    const scale = linear(2, 12, 400, 0);
    expect([scale(2), scale(7), scale(12)]).toEqual([400, 200, 0]);
    expect(scale.back(scale(3.5))).toBeCloseTo(3.5, 12);
  });

  it("has round ticks, within the range, about as many as asked for", () => {
    expect(ticks(0, 20, 5)).toEqual([0, 5, 10, 15, 20]);
    expect(ticks(-0.3, 0.3, 3).map((t) => t.toFixed(1))).toEqual(["-0.2", "0.0", "0.2"]);
    expect(ticks(1, 1, 5)).toEqual([]);
    expect(tickStep(0, 7, 4)).toBe(2);
  });

  it("writes no minus before nothing", () => {
    expect(Object.is(ticks(-1, 1, 2)[1], 0)).toBe(true);
  });

  it("knows how many decimals tell ticks apart", () => {
    expect([0.05, 0.1, 1, 20, 1e-6].map(decimals)).toEqual([2, 1, 0, 0, 6]);
  });
});

describe("units", () => {
  // The examples of python/rexmit/screen/units.py.
  it("are written as on rexmit's pages", () => {
    expect([0.104, 1.41, 10.9, 212, 12404].map(three)).toEqual(["0.10", "1.41", "10.9", "212", "12,404"]);
    expect([1234567, -1234.5, 999, 0.25].map((v) => grouped(v, 1))).toEqual(["1,234,567.0", "-1,234.5", "999.0", "0.3"]);
    expect([0.021, 0.00031, 1.41, 725, 7.2e-6, 0].map(seconds)).toEqual([
      "21 ms",
      "310 µs",
      "1.41 s",
      "12 min 5 s",
      "7.2 µs",
      "0 s",
    ]);
    expect([0.1, 2.13, 104, 0.001].map(plainSeconds)).toEqual(["0.10 s", "2.13 s", "104.0 s", "0.00 s"]);
    expect([512, 55_000, 10e6].map(size)).toEqual(["512 B", "55.0 kB", "10.0 MB"]);
    expect([10.9e6, 1.2e9, 56_000].map(rate)).toEqual(["10.9 Mbps", "1.20 Gbps", "56.0 kbps"]);
    expect([0.12, 0.013, 0.0004].map(percent)).toEqual(["12%", "1.3%", "0.04%"]);
  });
});
