import { describe, expect, it } from "vitest";
import { decode } from "../src/data/container";

type Stored = { name: string; type: string; bytes: Uint8Array; delta?: boolean; shuffle?: boolean };

/** A container as FORMAT.md has it, from columns whose bytes are stored already. */
function container(rows: number, columns: Stored[], more: object = {}): ArrayBuffer {
  const header = JSON.stringify({
    kind: "packets",
    rows,
    columns: columns.map(({ bytes: _, ...rest }) => rest),
    ...more,
  });
  const padded = header + " ".repeat((8 - ((4 + header.length) % 8)) % 8);
  const parts: Uint8Array[] = [new Uint8Array(new Uint32Array([padded.length]).buffer), new TextEncoder().encode(padded)];
  for (const { bytes } of columns) parts.push(bytes, new Uint8Array((8 - (bytes.length % 8)) % 8));
  const whole = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole.buffer;
}

const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

function shuffled(bytes: Uint8Array, width: number): Uint8Array {
  const rows = bytes.length / width;
  return Uint8Array.from(bytes, (_, i) => bytes[(i % rows) * width + Math.floor(i / rows)]);
}

describe("a container", () => {
  it("gives plain columns of every type", () => {
    const f = new Float64Array([1.5, -2]);
    const { columns, header } = decode(
      container(2, [
        { name: "a", type: "u8", bytes: new Uint8Array([1, 255]) },
        { name: "b", type: "f64", bytes: bytesOf(f) },
        { name: "c", type: "i32", bytes: bytesOf(new Int32Array([-1, 7])) },
        { name: "d", type: "u16", bytes: bytesOf(new Uint16Array([65535, 2])) },
        { name: "e", type: "f32", bytes: bytesOf(new Float32Array([0.5, 4])) },
      ]),
    );
    expect(header.rows).toBe(2);
    expect([...columns.keys()].map((name) => [...columns.get(name)!])).toEqual([
      [1, 255],
      [1.5, -2],
      [-1, 7],
      [65535, 2],
      [0.5, 4],
    ]);
  });

  it("undoes shuffle before delta, and lets u32 wrap", () => {
    const differences = new Uint32Array([4_294_967_290, 10, 4_294_967_295]);
    const { columns } = decode(
      container(3, [
        { name: "n", type: "u32", delta: true, shuffle: true, bytes: shuffled(bytesOf(differences), 4) },
      ]),
    );
    expect([...columns.get("n")!]).toEqual([4_294_967_290, 4, 3]);
  });

  it("undoes shuffle of two and of eight bytes", () => {
    const pairs = new Uint16Array([1, 513, 65_535]);
    const longs = new Float64Array([1.5, -1e300, 7]);
    const { columns } = decode(
      container(3, [
        { name: "p", type: "u16", shuffle: true, bytes: shuffled(bytesOf(pairs), 2) },
        { name: "l", type: "f64", shuffle: true, bytes: shuffled(bytesOf(longs), 8) },
        { name: "b", type: "u8", shuffle: true, bytes: new Uint8Array([3, 2, 1]) },
      ]),
    );
    expect([...columns.keys()].map((name) => [...columns.get(name)!])).toEqual([[...pairs], [...longs], [3, 2, 1]]);
  });

  it("keeps nanoseconds of hours exact through delta", () => {
    const times = [5, 3_600_000_000_001, 3_600_000_000_003];
    const differences = new Float64Array([5, 3_599_999_999_996, 2]);
    const { columns } = decode(
      container(3, [{ name: "time_ns", type: "f64", delta: true, bytes: bytesOf(differences) }]),
    );
    expect([...columns.get("time_ns")!]).toEqual(times);
  });

  it("reads a header of any length, and no rows", () => {
    for (let n = 0; n < 9; n++) {
      const { header, columns } = decode(container(0, [{ name: "x".repeat(n + 1), type: "f64", bytes: new Uint8Array() }]));
      expect([header.rows, [...columns.keys()].length]).toEqual([0, 1]);
    }
  });

  it("says which column is cut off", () => {
    const whole = container(2, [{ name: "seq", type: "f64", bytes: bytesOf(new Float64Array(2)) }]);
    expect(() => decode(whole.slice(0, -8))).toThrow("column seq is cut off");
    expect(() => decode(whole.slice(0, 3))).toThrow("3 bytes");
    expect(() => decode(whole.slice(0, 10))).toThrow("is cut off");
  });
});
