/** CONTAINER of FORMAT.md: a JSON header, then columns, each padded to 8 bytes. */

export type Column = Float64Array | Float32Array | Int32Array | Uint32Array | Uint16Array | Uint8Array;
type ColumnType = "f64" | "f32" | "i32" | "u32" | "u16" | "u8";

export interface Header {
  kind: "packets" | "bins" | "table";
  rows: number;
  columns: { name: string; type: ColumnType; delta?: boolean; shuffle?: boolean }[];
  words?: Record<string, string[]>;
  /** Of bins: the causes that there are. */
  causes?: string[];
  from_ns?: number;
  to_ns?: number;
  complete?: boolean;
  start_ns?: number;
  bin_ns?: number;
  bins?: number;
}

/** Columns by name; a Map is such. */
export interface Columns {
  get(name: string): Column | undefined;
  has(name: string): boolean;
  keys(): Iterable<string>;
}

export interface Container {
  header: Header;
  columns: Columns;
}

const ARRAYS = {
  f64: Float64Array,
  f32: Float32Array,
  i32: Int32Array,
  u32: Uint32Array,
  u16: Uint16Array,
  u8: Uint8Array,
} as const;

/** Columns that are put together when they are first asked for: of a report's millions of values its first page needs a
 * few columns only. */
class Stored implements Columns {
  private readonly makers = new Map<string, () => Column>();
  private readonly made = new Map<string, Column>();

  add(name: string, make: () => Column): void {
    this.makers.set(name, make);
  }

  get(name: string): Column | undefined {
    let column = this.made.get(name);
    const make = this.makers.get(name);
    if (column === undefined && make !== undefined) {
      column = make();
      this.made.set(name, column);
    }
    return column;
  }

  has(name: string): boolean {
    return this.makers.has(name);
  }

  keys(): Iterable<string> {
    return this.makers.keys();
  }
}

/** Throws an Error that says what is wrong, and in which column. */
export function decode(buffer: ArrayBuffer): Container {
  if (buffer.byteLength < 4) throw new Error(`a container of ${buffer.byteLength} bytes has no header`);
  const length = new DataView(buffer).getUint32(0, true);
  if (4 + length > buffer.byteLength) throw new Error(`a header of ${length} bytes is cut off`);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as Header;
  const columns = new Stored();
  let at = 4 + length;
  for (const { name, type, delta, shuffle } of header.columns) {
    const Kind = ARRAYS[type];
    if (Kind === undefined) throw new Error(`column ${name}: ${type} is no type`);
    const size = header.rows * Kind.BYTES_PER_ELEMENT;
    if (at + size > buffer.byteLength) throw new Error(`column ${name} is cut off`);
    const stored = new Uint8Array(buffer, at, size);
    columns.add(name, () => {
      const bytes = shuffle ? unshuffle(stored, Kind.BYTES_PER_ELEMENT) : stored.slice();
      const values = new Kind(bytes.buffer);
      if (delta) for (let i = 1; i < values.length; i++) values[i] = values[i] + values[i - 1];
      return values;
    });
    at += size + ((8 - (size % 8)) % 8);
  }
  return { header, columns };
}

/** Bytes stored plane by plane (all first bytes, all second bytes, …) as they stand in memory. Four at a time: a
 * report has tens of millions of them. */
function unshuffle(stored: Uint8Array, width: number): Uint8Array<ArrayBuffer> {
  if (width === 1) return stored.slice();
  const rows = stored.length / width;
  const bytes = new Uint8Array(stored.length);
  if (width === 2) {
    const pairs = new Uint16Array(bytes.buffer);
    for (let i = 0; i < rows; i++) pairs[i] = stored[i] | (stored[rows + i] << 8);
    return bytes;
  }
  const words = new Uint32Array(bytes.buffer);
  const stride = width / 4;
  for (let part = 0; part < stride; part++) {
    const [a, b, c, d] = [0, 1, 2, 3].map((k) => (4 * part + k) * rows);
    for (let i = 0, to = part; i < rows; i++, to += stride) {
      words[to] = stored[a + i] | (stored[b + i] << 8) | (stored[c + i] << 16) | (stored[d + i] << 24);
    }
  }
  return bytes;
}
