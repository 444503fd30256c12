/** Figures as rexmit's pages write them (python/rexmit/screen/units.py): three significant digits, the unit beside
 * them. */

/** Thousands apart. By hand: the browser's own formats take 40 ms before the first is there. */
export function grouped(value: number, digits = 0): string {
  const [whole, decimals] = value.toFixed(digits).split(".");
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return decimals === undefined ? apart : `${apart}.${decimals}`;
}

export function three(value: number): string {
  const size = Math.abs(value);
  if (size >= 99.95) return grouped(value);
  if (size >= 9.995) return value.toFixed(1);
  if (size >= 0.0995) return value.toFixed(2);
  if (size === 0) return "0";
  return size >= 0.00995 ? value.toFixed(3) : String(Number(value.toPrecision(2)));
}

export function count(value: number, one: string, many = `${one}s`): string {
  return `${grouped(value)} ${value === 1 ? one : many}`;
}

export function seconds(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0 s";
  if (size < 9.995e-4) {
    if (size >= 9.95e-6) return `${(value * 1e6).toFixed(0)} µs`;
    return size >= 9.95e-7 ? `${(value * 1e6).toFixed(1)} µs` : `${(value * 1e9).toFixed(0)} ns`;
  }
  if (size < 0.9995) return `${(value * 1e3).toFixed(size >= 0.00995 ? 0 : 1)} ms`;
  if (size < 120) return `${three(value)} s`;
  const whole = Math.round(value);
  const minutes = Math.floor(whole / 60);
  if (minutes < 120) return whole % 60 ? `${minutes} min ${whole % 60} s` : `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A cost: 0.10 s, 2.13 s, 104 s; what went on faster than before cost nothing. */
export function plainSeconds(value: number): string {
  if (Math.abs(value) < 0.005) return "0.00 s";
  return Math.abs(value) < 9.995 ? `${value.toFixed(2)} s` : `${grouped(value, 1)} s`;
}

function scaled(value: number, units: [string, number][], otherwise: string): string {
  for (const [unit, scale] of units) {
    if (Math.abs(value) >= scale * 0.9995) return `${three(value / scale)} ${unit}`;
  }
  return otherwise;
}

export function size(value: number): string {
  return scaled(value, [["GB", 1e9], ["MB", 1e6], ["kB", 1e3]], `${grouped(value)} B`);
}

export function rate(bitsPerSecond: number): string {
  return scaled(bitsPerSecond, [["Gbps", 1e9], ["Mbps", 1e6], ["kbps", 1e3]], `${three(bitsPerSecond)} bps`);
}

export function percent(share: number): string {
  const value = share * 100;
  if (value >= 9.95) return `${value.toFixed(0)}%`;
  return value >= 0.095 || value === 0 ? `${value.toFixed(1)}%` : `${Number(value.toPrecision(2))}%`;
}

/** Divisor and prefix so that an axis shows small figures. */
export function prefixOf(largest: number): [number, string] {
  for (const [prefix, scale] of [["G", 1e9], ["M", 1e6], ["k", 1e3]] as const) {
    if (Math.abs(largest) >= scale) return [scale, prefix];
  }
  return [1, ""];
}
